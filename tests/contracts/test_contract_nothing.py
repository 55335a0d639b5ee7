"""If nothing relevant is retrieved, the score is 0; without qrels there is none."""

from contracts import contract_cases as cases
from hypothesis import given, strategies as st

pytestmark = cases.BOTH_COLUMNS


def without_relevant(measure, qrels, run):
    """Return the run without the documents that may count."""
    return {
        topic: {
            doc: score
            for doc, score in docs.items()
            if not cases.is_relevant(measure, qrels.get(topic, {}).get(doc, 0))
        }
        for topic, docs in run.items()
    }


@cases.each(cases.having("nothing"))
@cases.examples(8)
@given(data=st.data())
def test_nothing_relevant_retrieved_scores_0(subject, data):
    measure, one = data.draw(cases.measures(subject, "nothing")), data.draw(cases.collections(subject))
    found = cases.scores(measure, one.qrels, without_relevant(measure, one.qrels, one.run))
    assert found == dict.fromkeys(one.qrels, 0)


@cases.each(cases.having("nothing"))
@cases.examples(6)
@given(data=st.data())
def test_topics_without_relevant_documents_or_without_a_ranking_score_0(subject, data):
    measure, one = data.draw(cases.measures(subject, "nothing")), data.draw(cases.collections(subject))
    qrels = one.qrels
    irrelevant = without_relevant(measure, qrels, qrels)
    assert not any(cases.scores(measure, irrelevant, one.run).values())
    assert cases.scores(measure, qrels, {}) == dict.fromkeys(qrels, 0)
    assert cases.scores(measure, qrels, {topic: {} for topic in qrels}) == dict.fromkeys(qrels, 0)


@cases.each(cases.ALL)
@cases.examples(3)
@given(data=st.data())
def test_empty_qrels_have_no_scores(subject, data):
    measure = data.draw(cases.measures(subject))
    assert [*cases.PROVIDER.iter_calc([measure], {}, {"1": {"a": 1.0}})] == []

"""Agreement of two judges on text, from sets of characters."""

from itertools import product


def characters(rows, rel):
    """Return the characters (document, position) of level >= rel by topic; rows are as of qrels."""
    found = {}
    for topic, doc, level, start, length in rows:
        of_topic = found.setdefault(topic, set())
        if level >= rel:
            of_topic |= {(doc, position) for position in range(start, start + length)}
    return found


def by_topic(a, b, rel):
    """Return F and IoU of each topic that is in both sets and has text in one of them."""
    one, two = characters(a, rel), characters(b, rel)
    return {
        topic: (
            2 * len(one[topic] & two[topic]) / (len(one[topic]) + len(two[topic])),
            len(one[topic] & two[topic]) / len(one[topic] | two[topic]),
        )
        for topic in one.keys() & two.keys()
        if one[topic] or two[topic]
    }


def coefficients(a, b, rel, lengths, topics):
    """Return F, IoU, pooled F, pooled IoU and kappa of topics, which may repeat; None where undefined."""
    one, two, means = characters(a, rel), characters(b, rel), by_topic(a, b, rel)
    used = [means[topic] for topic in topics if topic in means]
    if not used:
        ratios = [None] * 4
    else:
        sums = [0, 0, 0]
        for topic in topics:
            if topic in means:
                sums[0] += len(one[topic])
                sums[1] += len(two[topic])
                sums[2] += len(one[topic] & two[topic])
        ratios = [sum(each) / len(used) for each in zip(*used, strict=True)]
        ratios += [2 * sums[2] / (sums[0] + sums[1]), sums[2] / (sums[0] + sums[1] - sums[2])]
    table = dict.fromkeys(product((False, True), repeat=2), 0)
    for topic in topics:
        for doc in {r[1] for r in a if r[0] == topic} & {r[1] for r in b if r[0] == topic}:
            for position in range(lengths[doc]):
                table[(doc, position) in one[topic], (doc, position) in two[topic]] += 1
    total = sum(table.values())
    kappa = None
    if total:
        observed = (table[True, True] + table[False, False]) / total
        first = (table[True, True] + table[True, False]) / total
        second = (table[True, True] + table[False, True]) / total
        expected = first * second + (1 - first) * (1 - second)
        if first * second < 1 and (1 - first) * (1 - second) < 1:
            kappa = (observed - expected) / (1 - expected)
    return [*ratios, kappa]

"""Measure strings for fuzzing: correct ones, and ones written by mistake or on purpose."""

from hypothesis import strategies as st

from ir_graded.measures import REGISTRY

#: Names of measures computed here; other providers start programs.
COMPUTED = [
    "AP", "RR", "nDCG", "P", "R", "Rprec", "Success", "Bpref", "RBP", "Judged", "NumRet", "NumRel", "NumQ",
]  # fmt: skip
NAMES = [
    *(*REGISTRY, *COMPUTED, "SetP", "SetR", "SetF", "ERR", "IPrec", "alpha_nDCG"),
    *("map", "P_5", "ndcg_cut", "\uff31", "x"),
]
PARAMETERS = sorted(
    {name for measure in REGISTRY.values() for name in measure.SUPPORTED_PARAMS}
    | {"dcg", "p", "recall", "x", "**", "_"}
)

numbers = st.one_of(
    st.integers(-3, 12).map(str),
    st.integers().map(str),
    st.floats().map(repr),
    st.sampled_from(
        ["10**9", "1000000000", "101010101010101010", "1e400", "-1e-400", "0.1_0", "1j", "1_0", "07"]
    ),
    st.sampled_from(["9" * 5000, "0x" + "f" * 5000]),
    st.integers(0, 2000).map(lambda depth: "-" * depth + "1"),
)
words = st.sampled_from(
    [
        "lambda: 0",
        *["inf", "-inf", "nan", "True", "None", "...", "'rb'", "'all'", "'�'", "b'x'", "f'{x}'", "x", "()"],
    ]
)
values = st.recursive(
    numbers | words,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
        | st.lists(st.tuples(inner, inner), max_size=3).map(
            lambda pairs: "{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=6,
)


@st.composite
def strings(draw):
    """Draw a string like ``NAME(name=value, ...)@cutoff``, often with a part that is invalid there."""
    given = draw(st.lists(st.tuples(st.sampled_from(PARAMETERS), values), max_size=3))
    arguments = ",".join(value if name == "_" else f"{name}={value}" for name, value in given)
    name = draw(st.sampled_from(NAMES))
    text = name + draw(st.sampled_from(["", f"({arguments})", f"({arguments}", f"({arguments}))"]))
    text += draw(st.one_of(st.just(""), values.map("@{}".format), numbers.map("@{}".format)))
    if draw(st.booleans()):
        return text
    at = draw(st.integers(0, len(text)))
    odd = st.sampled_from(["\0", "\n", " ", "#", "\\", "'", "@", "(" * 300, "[" * 9999])
    part = draw(st.one_of(st.text(max_size=3), odd))
    return text[:at] + part + text[at + draw(st.integers(0, 2)) :]

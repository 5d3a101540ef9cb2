import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from surefoot.study.toml.lines import Lines
from surefoot.study.toml.text import leaves

TRICKY = r'''# a "comment" = [1]
a.b = 1 # x = 2
"q \u0041.x" = """
multi = 3 \""" ]
"""
[t] # [u]
l = [ # one
  1, 'a,]', """x
y""", [2, {z = 3, w = [1]}],
  { k.j = "}" }, 1979-05-27 07:32:00, '''  # a literal text follows
TRICKY += """'''
] = 4''',
]
[[x.y]]
n = 1
[x.y.sub]
s = 2
[[x.y]]
n = 3
[[x.y.deep]]
[[x.y.deep]]
v=[[],
   [inf]]"""
WHERE = {
    ("a", "b"): 2,
    ("q A.x",): 3,
    ("t",): 6,
    ("t", "l", 0): 8,
    ("t", "l", 2): 8,
    ("t", "l", 3, 1, "w", 0): 9,
    ("t", "l", 4, "k", "j"): 10,
    ("t", "l", 5): 10,
    ("t", "l", 6): 10,
    ("x", "y", 0, "sub", "s"): 16,
    ("x", "y", 1): 17,
    ("x", "y", 1, "n"): 18,
    ("x", "y", 1, "deep", 0): 19,
    ("x", "y", 1, "deep", 1, "v", 1, 0): 22,
    ("x", "z"): 13,
}


def test_every_key_and_member_of_a_list_is_on_its_line():
    assert tomllib.loads(TRICKY)
    lines = Lines(TRICKY)
    assert {path: lines.of(*path) for path in WHERE} == WHERE
    assert lines.of() == 1


texts = st.text("ab]}#=.\"'\\[\né", max_size=6)
values = st.recursive(
    st.one_of(st.integers(), st.booleans(), texts),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, min_size=1, max_size=4))
def test_a_value_moves_with_its_line(document):
    """Each leaf written on a line of its own is found on that line."""
    text, where = "", {}
    for key, value in document.items():
        text += f"{json.dumps(key)} ="
        text, where = _written(text, where, (key,), value)
        text += "\n"
    assert tomllib.loads(text) == document
    lines = Lines(text)
    assert {path: lines.of(*path) for path, _ in leaves(document)} == where


def _written(text, where, path, value):
    if isinstance(value, list):
        text += "[ # ]\n"
        for number, inner in enumerate(value):
            text, where = _written(text, where, (*path, number), inner)
            text += ",\n"
        return text + "]", where
    where[path] = text.count("\n") + 1
    return text + json.dumps(value), where

"""How edges are read, and which of them lie on a way from source to target."""

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.oracles._graph import net_between, numbered, read_edges


def test_nodes_are_ints_or_strings_and_become_plain_ones():
    edges = read_edges(np.array([[0, 1], [1, 2]]))
    assert edges == ((0, 1), (1, 2))
    assert {type(node) for edge in edges for node in edge} == {int}
    assert read_edges([["a", np.str_("b")]]) == (("a", "b"),)
    assert type(read_edges([["a", np.str_("b")]])[0][1]) is str


def test_1_and_its_string_are_two_nodes():
    assert numbered(read_edges([(1, "1"), ("1", 2)])).names == (1, "1", 2)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (None, "edges = None must be a list of pairs"),
        ("ab", "edges = 'ab' must be a list of pairs"),
        ([], "edges is empty"),
        (["ab"], r"edges\[0\] = 'ab' must be a pair"),
        ([("a", "b"), ("a",)], r"edges\[1\] = \('a',\) must be a pair"),
        ([("a", "b", "c")], r"edges\[0\] = \('a', 'b', 'c'\) must be a pair"),
        ([3], r"edges\[0\] = 3 must be a pair"),
        ([(0, 1.0)], r"edges\[0\] names the node 1.0; a node is an int or a string"),
        ([(True, 2)], r"edges\[0\] names the node True"),
        ([(None, 2)], r"edges\[0\] names the node None"),
        ([("a", "b"), ("b", "b")], r"edges\[1\] joins 'b' to itself"),
    ],
)
def test_what_is_no_list_of_edges_is_refused(edges, message):
    with pytest.raises(InvalidInput, match=message):
        read_edges(edges)


def test_edges_off_the_way_are_left_out():
    edges = [("s", "a"), ("a", "dead end"), ("a", "t"), ("nowhere", "a"), ("t", "a"), ("a", "s")]
    net = net_between(numbered(read_edges(edges)), "s", "t")
    assert sorted(net.order) == [0, 2]
    assert (net.n_nodes, net.acyclic) == (3, True)


def test_edges_are_relaxed_after_all_they_lead_to_and_the_lower_first():
    edges = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "a"), ("s", "a")]
    assert net_between(numbered(read_edges(edges)), "s", "t").order == (2, 3, 0, 1, 4)


def test_a_cycle_on_the_way_is_seen():
    edges = [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t")]
    net = net_between(numbered(read_edges(edges)), "s", "t")
    assert not net.acyclic
    assert sorted(net.order) == [0, 1, 2, 3]

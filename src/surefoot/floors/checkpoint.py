"""Checkpointed floors: a promise at every n-th play only, so that the plays between may go ahead.

Source: the default plays that can still be made before the next checkpoint are spent beforehand;
the accounting under delay, loss and voids is ours.

The gate. Let s be the number of plays known to be made, the next one included: explorations that
are not void, and default plays reported. With d what a default play posts and D(s) = (-s) mod n the
plays left until the checkpoint, an exploration is allowed iff available + D(s)*d >= h.

Why it holds, for constant d and h. At any moment let t plays be decided and not void, of them p
explorations open and U default plays unreported. Any i <= p and j <= U of these may turn out never
to have been made; then t-i-j plays were made, and what is surely received above the floor is
available + i*h + (U-j)*d. We show that all

    G(i,j) = available + i*h + (U-j)*d + D(t-i-j)*d  >=  0,

which is the promise wherever D(t-i-j) = 0. At the start it is so. Then, G' being after the event:

- default decided: G'(i,j) = G(i,j-1) for j > 0; G'(i,0) >= G(i,0), since D falls by at most 1;
- default reported: G'(i,j) = G(i,j); default void: G'(i,j) = G(i,j+1);
- exploration decided: G'(i,j) = G(i-1,j) for i > 0. G'(0,j) is available - h + (U-j)*d
  + D(t+1-j)*d; as t+1-j plus D of it never falls when t+1-j grows, this is least at j = U, where
  t+1-U = s: the gate;
- exploration void: G'(i,j) = G(i+1,j); settled, expired, late or fallen back: available does not
  fall, p does, so no G does.

So it needs no play to be made that was decided, and it holds in any order. It needs equal terms:
one constant default, and a change of terms only when nothing is open and nothing is spent ahead.
"""

from __future__ import annotations

from typing import Any

from surefoot._exact import shown
from surefoot.errors import InvalidInput


def still_to_come(known: int, checkpoint: int | None) -> int:
    """D(s): the plays after the next one until its checkpoint, if ``known`` are made for sure.

    >>> [still_to_come(known, 3) for known in range(5)]
    [2, 1, 0, 2, 1]
    """
    return 0 if checkpoint is None else -(known + 1) % checkpoint


def checked_checkpoint(checkpoint: Any, constant: bool) -> int | None:
    """The distance of the checkpoints, if it is one and the default is ``constant``."""
    if checkpoint is None:
        return None
    if type(checkpoint) is not int or checkpoint < 1:
        raise InvalidInput(
            f"checkpoint = {shown(checkpoint)} must be an int >= 1, the plays from one to the "
            "next, or None: the promise holds at every play"
        )
    if not constant:
        raise InvalidInput(
            f"checkpoint = {checkpoint} needs a constant default: what the default plays until the "
            "checkpoint bring is spent beforehand; give it to the floor"
        )
    return checkpoint

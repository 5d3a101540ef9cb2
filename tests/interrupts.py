"""Ctrl-C at any point of a piece of code that a test wants."""

import sys


def interrupted(action, strike, opcodes, struck):
    """Whether a KeyboardInterrupt at the ``strike``-th event broke off ``action``; an event is the
    entry of a function or, with ``opcodes``, any instruction, of the files whose paths begin with
    ``struck``, a string or several."""
    left = [strike]

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(struck):
            return None
        frame.f_trace_opcodes = opcodes
        if event == ("opcode" if opcodes else "call"):
            left[0] -= 1
            if left[0] < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False

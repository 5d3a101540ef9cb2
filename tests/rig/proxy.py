"""A TCP proxy on loopback: it can go silent, stall one way, swallow, delay, reset and refuse."""

import select
import socket
import struct
import threading
import time
from contextlib import suppress

TICK = 0.05


class Proxy:
    """``mode``: what the network does to all connections, old and new.

    pass; delay (0.3 s each way); silent (nothing is read any more, and nobody is told); stall (what
    the client sends arrives, and no answer comes back); swallow (all is read, and goes nowhere);
    refuse. What was held back in between arrives when the mode is pass again, as in a network that
    healed, unless ``reset`` was called; what was swallowed is lost.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.target, self.mode = (host, port), "pass"
        self.after: bytes | None = None
        """Once these bytes came by, which still arrive, the mode is swallow."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        while self.mode in ("silent", "swallow") and not self._over.is_set():
            time.sleep(TICK)  # the kernel has said yes; nobody else says anything
        try:
            if self.mode == "refuse":
                raise OSError("refused")
            server = socket.create_connection(self.target, timeout=5)
        except OSError:
            end(client)
            return
        pair = client, server
        self._pairs.append(pair)
        for sender, taker, held in ((*pair, ("silent",)), (*pair[::-1], ("silent", "stall"))):
            threading.Thread(target=self._pump, args=(sender, taker, held), daemon=True).start()

    def _pump(self, sender: socket.socket, taker: socket.socket, held: tuple[str, ...]) -> None:
        try:
            while not self._over.is_set():
                if self.mode in held:
                    time.sleep(TICK)
                    continue
                if not select.select([sender], [], [], TICK)[0] or self.mode in held:
                    continue
                data = sender.recv(65536)
                if not data:
                    break
                if self.mode == "swallow":
                    continue
                if self.mode == "delay":
                    time.sleep(0.3)
                if self.after is not None and self.after in data:
                    self.mode, self.after = "swallow", None
                taker.sendall(data)
        except (OSError, ValueError):
            pass
        end(sender)
        end(taker)

    def reset(self) -> None:
        """Break every connection at once."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for one in pair:
                try:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self) -> None:
        self._over.set()
        self.reset()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for a client
        self._listener.close()


def end(one: socket.socket) -> None:
    with suppress(OSError):
        one.close()

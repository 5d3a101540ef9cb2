"""A store that breaks when told to: before a commit, or after it, so that its answer is lost."""

from surefoot.errors import StoreUnavailable
from surefoot.live.store import Store


class Faulty(Store):
    """Hands everything to another store, but breaks at its n-th commit from now, counted from 1."""

    def __init__(self, inner):
        self.inner = inner
        self.commits = 0
        self.at, self.kept = None, False
        """The commit that fails, and whether it is kept all the same."""

    def break_at(self, commit, kept):
        self.at, self.kept = self.commits + commit, kept

    def _next(self):
        self.commits += 1
        return self.commits == self.at

    def transact(self, account, work):
        if not self._next():
            return self.inner.transact(account, work)
        if self.kept:
            self.inner.transact(account, work)
            raise StoreUnavailable("the answer was lost")

        def undone(tx):
            work(tx)
            raise StoreUnavailable("the commit failed")

        return self.inner.transact(account, undone)

    def snapshot(self, account, seq, blob, experiment=""):
        broken = self._next()
        if not broken or self.kept:
            self.inner.snapshot(account, seq, blob, experiment)
        if broken:
            raise StoreUnavailable("the snapshot was lost")

    def open_account(self, account, places, strict):
        broken = self._next()
        if not broken or self.kept:
            row = self.inner.open_account(account, places, strict)
        if broken:
            raise StoreUnavailable("the account was lost")
        return row

    def accounts(self):
        return self.inner.accounts()

    def account(self, account):
        return self.inner.account(account)

    def entries(self, account, after=0, limit=None):
        return self.inner.entries(account, after, limit)

    def play(self, account, play):
        return self.inner.play(account, play)

    def latest_snapshot(self, account, experiment=""):
        return self.inner.latest_snapshot(account, experiment)

    def now(self):
        return self.inner.now()

    def close(self):
        self.inner.close()

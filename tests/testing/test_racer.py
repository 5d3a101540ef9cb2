from surefoot.live.store import open_store
from surefoot.testing import racer
from surefoot.testing._stores import fund


def test_it_prints_what_was_acknowledged(tmp_path, capsys):
    address = str(tmp_path / "ledger.db")
    with open_store(address) as store:
        store.open_account("shop", 2, strict=True)
        fund(store, 10)
        racer.race(address, "shop")
        assert capsys.readouterr().out == "2\n3\n4\n"
        assert store.account("shop").available == 1

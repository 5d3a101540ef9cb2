import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import surefoot
from surefoot.cli import app
from surefoot.cli._app import OneLine
from surefoot.cli._commands import Once
from surefoot.errors import DamagedFile, InvalidInput

HEAVY = {"numpy", "polars", "matplotlib", "numba", "scipy"}


def loaded_by(*words):
    """The packages a command has loaded when it ends."""
    code = (
        "import sys\nfrom surefoot.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "surefoot" in loaded
    return loaded


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_nothing_heavy(option):
    assert loaded_by(option) & (HEAVY | {"pydantic"}) == set()


@pytest.mark.parametrize("words", ["study cmab --help", "replay --help", "nope"])
def test_a_commands_help_and_a_typing_error_import_nothing_heavy(words):
    """Pydantic is typer's own: it reads the options with it."""
    assert loaded_by(*words.split()) & HEAVY == set()


def test_version():
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"surefoot {surefoot.__version__}\n")


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "surefoot", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"surefoot {surefoot.__version__}\n"


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_shows_the_first_thing_to_do(words):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert "surefoot study cmab" in done.stdout
    assert "replay" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope"], "error: No such command 'nope'."),
        (["studdy"], "error: No such command 'studdy'. Did you mean 'study'?"),
        (["--bogus"], "error: No such option: --bogus"),
        (["study", "nope"], "error: No such command 'nope'."),
    ],
)
def test_a_usage_error_is_one_line(words, said):
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", said + "\n")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InvalidInput("alpha = 2\n  is too much"), 2, "error: alpha = 2 is too much\n"),
        (DamagedFile("x is damaged"), 1, "error: x is damaged\n"),
        (PermissionError(13, "Permission denied", "/x"), 1, "error: Permission denied: /x\n"),
        (OSError("no space"), 1, "error: no space\n"),
        (KeyboardInterrupt(), 130, ""),
        (typer.Exit(7), 7, ""),
    ],
)
def test_an_expected_error_is_one_line_and_a_code(error, code, said):
    broken = typer.Typer(cls=OneLine)

    @broken.callback()
    def group() -> None: ...

    @broken.command()
    def fail() -> None:
        raise error

    done = CliRunner().invoke(broken, ["fail"])
    assert (done.exit_code, done.stdout, done.stderr) == (code, "", said)


def test_a_bug_of_ours_is_one_line_that_says_so(monkeypatch):
    broken = typer.Typer(cls=OneLine)

    @broken.callback()
    def group() -> None: ...

    @broken.command()
    def fail() -> None:
        raise ZeroDivisionError

    done = CliRunner().invoke(broken, ["fail"])
    assert (done.exit_code, done.stdout) == (70, "")
    assert done.stderr.startswith("error: this is a fault of surefoot: ZeroDivisionError()")
    monkeypatch.setenv("SUREFOOT_TRACEBACK", "1")
    assert "Traceback" in CliRunner().invoke(broken, ["fail"]).stderr


GIVEN_TWICE = [
    "replay --alpha 0.1 --alpha 0.2",
    "replay --reward-range 0 1 --reward-range 0 2",
    "plan --default 0.7 --means 0 1 --policy ucb1 --policy klucb",
    "study cmab --out a --out b",
    "study all --seed 1 --seed=1",
    "verify x --head a --head b",
    "status x --account a --account b",
    "ledger export x --out a --out b",
]


@pytest.mark.parametrize("words", GIVEN_TWICE)
def test_an_option_that_takes_one_value_is_given_once(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        app(words.split())
    out, err = capsys.readouterr()
    option = [word.partition("=")[0] for word in words.split() if word.startswith("--")][-1]
    assert (left.value.code, out) == (2, "")
    assert err == f"error: {option} is given 2 times and takes one value; give one\n"
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_the_rule():
    def commands(group):
        for command in group.commands.values():
            yield from commands(command) if hasattr(command, "commands") else (command,)

    found = list(commands(typer.main.get_command(app)))
    assert len(found) > 8
    assert all(isinstance(command, Once) for command in found)


def test_what_may_be_repeated_still_may_and_so_may_a_flag(capsys):
    with pytest.raises(SystemExit) as left:
        app(["study", "cmab", "--k", "24", "--k", "72", "--runs", "0", "--json", "--json"])
    assert left.value.code == 2
    assert "is given" not in capsys.readouterr().err

"""Run the README's commands in a bare Debian 12, as root and as an ordinary user.

    sudo python3 tools/bare_root.py [--keep] [--mirror URL] [COMMAND ...]

Builds a root with git, make and python3-venv only (debootstrap), clones this repository's HEAD into
it, and runs the commands (default: make demo, make test) there, first as root, then as a new user.
The root gets this machine's settings of pip, its certificates and name resolution, and the local
package folders that pip's settings name. Prints the time of each command; fails if one fails.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = "git,make,python3-venv,ca-certificates"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
USER = "tester"
PROXIES = {"http_proxy", "https_proxy", "no_proxy"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def log(text: str) -> None:
    sys.stdout.write(f"bare root: {text}\n")
    sys.stdout.flush()


def pip_settings() -> dict[str, str]:
    """The settings of pip on this machine by name, from its files and the environment."""
    lines = subprocess.check_output(
        [sys.executable, "-m", "pip", "config", "list"], text=True
    ).splitlines()
    settings = {}
    for line in lines:
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = value.strip("'\"").replace("\\n", " ")
    return settings


def package_folders(settings: dict[str, str]) -> set[Path]:
    """The local folders that settings of pip name; of an index its parent, which has the files."""
    folders = set()
    for word in " ".join(settings.values()).split():
        url = urlsplit(word)
        path = Path(unquote(url.path) if url.scheme == "file" else word)
        if path.is_absolute() and path.is_dir():
            folders.add(path.parent if url.scheme == "file" and path.parents[1:] else path)
    return folders


def copy_settings(root: Path, settings: dict[str, str]) -> None:
    """Give the root this machine's settings of pip, certificates and name resolution."""
    lines = ["[global]", *(f"{name} = {value}" for name, value in settings.items())]
    (root / "etc/pip.conf").write_text("\n".join(lines) + "\n")
    files = {CERTIFICATES, Path("/etc/resolv.conf"), Path("/etc/hosts")}
    files |= {Path(word) for word in settings.values() if Path(word).is_file()}
    for path in files:
        if path.is_file():
            target = root / path.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def mount_commands(root: Path, folders: set[Path]) -> list[str]:
    """Shell commands that mount the kernel's file systems and, read-only, `folders` in the root."""
    mounts = [
        ("-t proc proc", "proc"),
        ("-t sysfs -o ro sysfs", "sys"),
        ("--bind /dev", "dev"),
        ("-t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts", "dev/pts"),
        ("-t tmpfs -o mode=1777 tmpfs", "dev/shm"),
        *(
            (f"--bind -o ro {shlex.quote(str(path))}", str(path.relative_to("/")))
            for path in folders
        ),
    ]
    commands = []
    for options, place in mounts:
        target = shlex.quote(str(root / place))
        commands.append(f"mkdir -p {target}; mount {options} {target} || echo no {place} >&2")
    return commands


def run(root: Path, folders: set[Path], user: str, command: str) -> float:
    """Seconds that a shell command takes a user of the root; an error ends everything.

    The mounts are in a namespace of their own and end with the command.
    """
    home = "/root" if user == "root" else f"/home/{user}"
    variables = {"HOME": home, "PATH": PATH, "LANG": "C.UTF-8", "TERM": "dumb"}
    variables |= {name: value for name, value in os.environ.items() if name.lower() in PROXIES}
    assignments = [f"{name}={value}" for name, value in variables.items()]
    shell = ["env", "-i", *assignments, "sh", "-ec", f"cd; {command}"]
    chroot = ["chroot", f"--userspec={user}:{user}", str(root), *shell]
    script = "\n".join([*mount_commands(root, folders), f"exec {shlex.join(chroot)}"])
    log(f"as {user}: {command}")
    start = time.monotonic()
    subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return time.monotonic() - start


def build(root: Path, mirror: str | None, settings: dict[str, str]) -> None:
    """Install Debian 12 and make a bundle of this repository in the root."""
    log(f"Debian 12 with {PACKAGES} in {root}")
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm"]
    subprocess.run(
        [*command, str(root), *([mirror] if mirror else [])], check=True, stdout=subprocess.DEVNULL
    )
    copy_settings(root, settings)
    subprocess.run(["chroot", str(root), "useradd", "--create-home", USER], check=True)
    bundle = str(root / "srv/entrain.bundle")
    git = ["git", "-C", str(REPOSITORY), "bundle", "create", "--quiet", bundle]
    subprocess.run([*git, "HEAD", "--branches"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="leave the root where it is")
    parser.add_argument("--mirror", help="a Debian mirror; debootstrap's own by default")
    parser.add_argument("commands", nargs="*", default=["make demo", "make test"])
    options = parser.parse_args()
    if os.geteuid() or shutil.which("debootstrap") is None:
        sys.exit("needs root and debootstrap (apt-get install debootstrap)")
    settings = pip_settings()
    folders, times = package_folders(settings), []
    root = Path(tempfile.mkdtemp(prefix="bare-root-"))
    root.chmod(0o755)
    try:
        build(root, options.mirror, settings)
        for user in ("root", USER):
            run(root, folders, user, "git clone --quiet /srv/entrain.bundle entrain")
            for command in options.commands:
                seconds = run(root, folders, user, f"cd entrain; {command}")
                times.append(f"as {user}: {command}: {seconds:.0f} s")
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed with {error.returncode}: {shlex.join(map(str, error.cmd))[-200:]}")
    finally:
        if not options.keep:
            shutil.rmtree(root)
        for line in times:
            log(line)


if __name__ == "__main__":
    main()

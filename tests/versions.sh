#!/usr/bin/env bash
# The quick tests with each Python from 3.11 on, each with the newest packages of today, and with the oldest packages that
# pyproject.toml allows. Then the README and every --json, as typed by somebody who installed the wheel with all extras.
# No requirements file is read: it prints which releases it got of what Iris asks for.
# VERSIONS names some of them ("3.13 oldest wheel-newest"), TESTS some of the tests, JOBS how many processes.
# uv finds Pythons that are here, and brings others where it may; what cannot be had is named and passed over.
set -uo pipefail
cd "$(dirname "$0")/.."
uv=${1:-uv}
# What is compiled of the formal proofs is one program, whichever Python asks for it.
left_out=(--ignore=tests/spark --ignore=tests/unit/test_dependencies.py --ignore-glob='tests/oracles/test_verified_*')
extras=plots,explorer,notebooks,accounting,graphs,opendp,postgresql,build,test
failed=0

# Pythons that pyenv keeps are found by their folders: its own commands answer only for the one that is chosen.
for folder in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin; do
  [ -d "$folder" ] && PATH="$PATH:$folder"
done

print_versions() { # PLACE: the packages that pyproject.toml names
  "$1/bin/python" - <<'END'
import re
from importlib.metadata import PackageNotFoundError, requires, version
names = {re.match(r"[\w.-]+", line)[0].lower() for line in requires("irisdp")} - {"irisdp"}
found = []
for name in sorted(names):
    try:
        found.append(f"{name} {version(name)}")
    except PackageNotFoundError:
        pass
print("   " + ", ".join(found))
END
}

try() { # NAME PYTHON HOW: install everything but Spark in a place of its own, and run the quick tests there
  local name=$1 python=$2 how=$3 place=build/versions/$1
  if ! "$uv" venv --quiet --clear --python "$python" "$place" 2>/dev/null; then
    echo "$name: Python $python is not here, and cannot be had"
    return
  fi
  "$uv" pip install --quiet --python "$place/bin/python" --resolution "$how" --editable ".[$extras]" || { failed=1; return; }
  "$uv" pip list --quiet --python "$place/bin/python" --format freeze >"$place/packages.txt"
  echo "== $name: $("$place/bin/python" --version), $(wc -l <"$place/packages.txt") packages"
  print_versions "$place"
  PATH="$PWD/$place/bin:$PATH" "$place/bin/python" -m pytest -n "${JOBS:-2}" --dist worksteal --part quick \
    "${left_out[@]}" ${TESTS:-} || failed=1
}

try_wheel() { # NAME PYTHON HOW: install the wheel with all extras in an empty place, and type the README there
  local name=$1 python=$2 how=$3 place=build/versions/$1 wheel
  if ! "$uv" venv --quiet --clear --python "$python" "$place" 2>/dev/null; then
    echo "$name: Python $python is not here, and cannot be had"
    return
  fi
  rm -rf build/versions/dist
  "$uv" build --quiet --wheel --out-dir build/versions/dist . || { failed=1; return; }
  wheel=$(echo build/versions/dist/*.whl)
  # Of a wheel uv takes the newest of what it asks for; so the versions are worked out from the project first.
  "$uv" pip compile --quiet --python "$place/bin/python" --resolution "$how" --extra all pyproject.toml \
    --output-file "$place/packages.txt" >/dev/null || { failed=1; return; }
  "$uv" pip install --quiet --python "$place/bin/python" --constraint "$place/packages.txt" "$wheel[all]" ||
    { failed=1; return; }
  echo "== $name: $("$place/bin/python" --version), the wheel with all extras"
  print_versions "$place"
  IRISDP_PROGRAMS="$PWD/$place/bin" "$(dirname "$uv")/python" -m pytest -n 0 tests/unit/test_readme.py -k "readme_works or json or installed or wrong" || failed=1
}

for version in ${VERSIONS:-3.11 3.12 3.13 3.14 oldest wheel-newest wheel-oldest}; do
  case $version in
    oldest) try oldest 3.11 lowest-direct ;;
    wheel-newest) try_wheel wheel-newest 3.12 highest ;;
    wheel-oldest) try_wheel wheel-oldest 3.11 lowest-direct ;;
    *) try "newest-$version" "$version" highest ;;
  esac
done
exit $failed

#!/usr/bin/env bash
# The quick tests with each Python from 3.11 on, and with the oldest packages that pyproject.toml allows.
# VERSIONS names some of them ("3.13 oldest"), TESTS some of the tests, JOBS how many processes.
# uv finds Pythons that are here, and brings others where it may; what cannot be had is named and passed over.
set -uo pipefail
cd "$(dirname "$0")/.."
uv=${1:-uv}
# What is compiled of the formal proofs is one program, whichever Python asks for it.
left_out=(--ignore=tests/spark --ignore=tests/unit/test_dependencies.py --ignore-glob='tests/oracles/test_verified_*')
extras=plots,explorer,notebooks,accounting,graphs,opendp,build,test
failed=0

# Pythons that pyenv keeps are found by their folders: its own commands answer only for the one that is chosen.
for folder in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin; do
  [ -d "$folder" ] && PATH="$PATH:$folder"
done

try() { # NAME PYTHON HOW: install everything but Spark in a place of its own, and run the quick tests there
  local name=$1 python=$2 how=$3 place=build/versions/$1
  if ! "$uv" venv --quiet --clear --python "$python" "$place" 2>/dev/null; then
    echo "$name: Python $python is not here, and cannot be had"
    return
  fi
  "$uv" pip install --quiet --python "$place/bin/python" --resolution "$how" --editable ".[$extras]" || { failed=1; return; }
  "$uv" pip list --quiet --python "$place/bin/python" --format freeze >"$place/packages.txt"
  echo "== $name: $("$place/bin/python" --version), $(wc -l <"$place/packages.txt") packages"
  PATH="$PWD/$place/bin:$PATH" "$place/bin/python" -m pytest -n "${JOBS:-2}" --dist worksteal --quick \
    "${left_out[@]}" ${TESTS:-} || failed=1
}

for version in ${VERSIONS:-3.11 3.12 3.13 3.14 oldest}; do
  case $version in
    oldest) try oldest 3.11 lowest-direct ;;
    *) try "newest-$version" "$version" highest ;;
  esac
done
exit $failed

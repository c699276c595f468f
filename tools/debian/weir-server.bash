# Completion of weir-server's options; their names come from the program itself.
_weir_server() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if [[ $word == --* ]]; then
    local options
    options=$(weir-server --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)
    mapfile -t COMPREPLY < <(compgen -W "$options --check --check-config --help --import --leave-shard --new-shard --restore --version" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _weir_server weir-server

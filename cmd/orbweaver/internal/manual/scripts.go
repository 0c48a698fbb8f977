package manual

// The scripts ask the program for candidates, so they do not change with its flags.
const (
	bashScript = `# Completion of orbweaver in bash. The program itself knows its commands, flags and values.
_orbweaver() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		[[ -z $line ]] || COMPREPLY+=("${line%%$'\t'*}")
	done <<<"$("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o bashdefault -o default -F _orbweaver orbweaver
`

	zshScript = `#compdef orbweaver
# Completion of orbweaver in zsh. The program itself knows its commands, flags and values.
_orbweaver() {
	local -a candidates names
	local line word help
	while IFS= read -r line; do
		[[ -n $line ]] || continue
		word=${line%%$'\t'*}
		help=${line#*$'\t'}
		if [[ $word == *= ]]; then
			names+=("${word//:/\\:}:${help}") # a value follows, without a blank
		else
			candidates+=("${word//:/\\:}:${help}")
		fi
	done <<<"$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"
	(( ! ${#names} )) || _describe -V orbweaver names -S ''
	(( ! ${#candidates} )) || _describe -V orbweaver candidates
	(( ${#names} + ${#candidates} )) || _files
}
if [[ "${funcstack[1]}" == _orbweaver ]]; then
	_orbweaver "$@"
else
	compdef _orbweaver orbweaver
fi
`

	fishScript = `# Completion of orbweaver in fish. The program itself knows its commands, flags and values.
function __orbweaver_candidates
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete -- $words[2..-1] 2>/dev/null
end
complete -c orbweaver -f -n 'test (count (__orbweaver_candidates)) -gt 0' -a '(__orbweaver_candidates)'
`
)

package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"orbweaver/internal/cli/command"
)

// CompletionCommand is the command completion.
type CompletionCommand struct {
	Shell string `arg:"" help:"bash, zsh or fish." oneof:"bash,zsh,fish" placeholder:"SHELL"`
}

// Help shows examples.
func (*CompletionCommand) Help() string {
	return `The script completes commands, flags and their values when you press Tab. Packages install it already.

Examples:
  orbweaver completion bash > ~/.local/share/bash-completion/completions/orbweaver
  orbweaver completion zsh > ~/.zfunc/_orbweaver         # with fpath+=~/.zfunc before compinit in .zshrc
  orbweaver completion fish > ~/.config/fish/completions/orbweaver.fish`
}

// Run prints the script.
func (c *CompletionCommand) Run(inv *command.Invocation) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := fmt.Fprint(inv.Stdout, script)
	return err
}

// CompleteCommand is the hidden command that the scripts call.
type CompleteCommand struct {
	Words []string `arg:"" optional:"" help:"The words of the command line up to the cursor, without the program."`
}

// Help shows an example.
func (*CompleteCommand) Help() string {
	return `Each line is a word, a tab and its help. The scripts of 'orbweaver completion' call this command.

Example:
  orbweaver complete -- crawl --sco`
}

// Run prints the candidates.
func (c *CompleteCommand) Run(inv *command.Invocation) error {
	for _, candidate := range Candidates(inv.Args.Model, c.Words) {
		if _, err := fmt.Fprintf(inv.Stdout, "%s\t%s\n", candidate.Word, candidate.Help); err != nil {
			return err
		}
	}
	return nil
}

// Candidate is a word that may stand at the cursor.
type Candidate struct {
	Word string
	Help string // one line
}

// Candidates lists the words that may replace the last one, which is unfinished or empty. No candidate means that the
// program does not know better than the shell, which then offers names of files.
func Candidates(app *kong.Application, words []string) []Candidate {
	words, split := joinEquals(words)
	last := words[len(words)-1]
	c := cursor{node: app.Node}
	for _, w := range words[:len(words)-1] {
		c.pass(w)
	}
	if c.awaits != nil {
		return startingWith(last, valuesOf(c.awaits.Value))
	}
	name, value, hasValue := strings.Cut(last, "=")
	var flag *kong.Flag // that the value is for
	switch isFlag := !c.endOfFlags && strings.HasPrefix(last, "-"); {
	case !isFlag && hasValue && c.isSetting(name):
		if flag = settingFlag(app, name); len(valuesOf(flag.Value)) == 0 && value == "" && !split {
			return []Candidate{{last, firstSentence(flag.Help)}}
		}
	case !isFlag:
		return startingWith(last, append(c.commands(), c.argumentValues(app)...))
	case !hasValue:
		return startingWith(last, c.flagNames())
	default:
		if flag = c.flagOf(name); flag == nil {
			return nil
		}
	}
	values := startingWith(value, valuesOf(flag.Value))
	for i := range values {
		if !split {
			values[i].Word = name + "=" + values[i].Word
		}
	}
	return values
}

// joinEquals undoes what bash does to a word with an equals sign: --scope=do becomes three words. split says that it
// did so to the word at the cursor: it replaces only the part of that word behind the sign.
func joinEquals(words []string) (joined []string, split bool) {
	for i, w := range words {
		last := len(joined) - 1
		isSign := w == "=" && last >= 0
		isValue := i > 0 && words[i-1] == "=" && last >= 0 && strings.HasSuffix(joined[last], "=")
		if isSign || isValue {
			joined[last] += w
			split = i == len(words)-1
			continue
		}
		joined = append(joined, w)
	}
	if len(joined) == 0 {
		joined = []string{""}
	}
	return joined, split
}

// cursor is what the words before the last one have selected.
type cursor struct {
	node       *kong.Node
	awaits     *kong.Flag // its value is the next word; nil for none
	usedFlags  []string
	arguments  int
	endOfFlags bool // after --
}

// pass goes beyond one word.
func (c *cursor) pass(word string) {
	name, _, hasValue := strings.Cut(word, "=")
	switch flag := c.flagOf(name); {
	case c.awaits != nil:
		c.awaits = nil
	case c.endOfFlags:
		c.arguments++
	case word == "--":
		c.endOfFlags = true
	case flag != nil:
		c.usedFlags = append(c.usedFlags, flag.Name)
		if !hasValue && !flag.IsBool() {
			c.awaits = flag
		}
	case strings.HasPrefix(word, "-"): // an unknown flag
	default:
		at := slices.IndexFunc(c.node.Children, func(n *kong.Node) bool { return n.Name == word })
		if at < 0 {
			c.arguments++
			return
		}
		c.node = c.node.Children[at]
	}
}

// flagOf is the flag with this name, of the command or of those that it belongs to; nil if there is none.
func (c *cursor) flagOf(name string) *kong.Flag {
	for _, group := range c.node.AllFlags(false) {
		for _, f := range group {
			if "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name {
				return f
			}
		}
	}
	return nil
}

// flagNames are the flags that may still be given.
func (c *cursor) flagNames() (list []Candidate) {
	for _, group := range c.node.AllFlags(true) {
		for _, f := range group {
			if f.IsSlice() || !slices.Contains(c.usedFlags, f.Name) {
				list = append(list, Candidate{"--" + f.Name, firstSentence(f.Help)})
			}
		}
	}
	return list
}

// commands are those within the selected one, before its first argument.
func (c *cursor) commands() (list []Candidate) {
	if c.arguments > 0 {
		return nil
	}
	for _, n := range c.node.Children {
		if !n.Hidden {
			list = append(list, Candidate{n.Name, firstSentence(n.Help)})
		}
	}
	return list
}

// completer is a command that knows the words of an argument, counted from 0.
type completer interface{ Complete(argument int) []string }

// isSetting reports whether the argument may be NAME=VALUE with this name.
func (c *cursor) isSetting(name string) bool {
	own, ok := c.node.Target.Addr().Interface().(completer)
	return ok && c.node.Type == kong.CommandNode && slices.Contains(own.Complete(c.arguments), name+"=")
}

// settingFlag returns the flag of crawl with the name of a setting; an empty one if there is none.
func settingFlag(app *kong.Application, name string) *kong.Flag {
	for _, n := range app.Children {
		for _, f := range n.Flags {
			if n.Name == "crawl" && f.Name == name {
				return f
			}
		}
	}
	return &kong.Flag{Value: &kong.Value{Tag: new(kong.Tag)}}
}

// argumentValues are the values of the next argument, if it has a list of them.
func (c *cursor) argumentValues(app *kong.Application) (list []Candidate) {
	if own, ok := c.node.Target.Addr().Interface().(completer); ok && c.node.Type == kong.CommandNode {
		for _, word := range own.Complete(c.arguments) {
			help := ""
			if name, isSetting := strings.CutSuffix(word, "="); isSetting {
				help = firstSentence(settingFlag(app, name).Help)
			}
			list = append(list, Candidate{word, help})
		}
		return list
	}
	p := c.node.Positional
	if len(p) == 0 || c.arguments >= len(p) && !p[len(p)-1].IsCumulative() {
		return nil
	}
	return valuesOf(p[min(c.arguments, len(p)-1)])
}

// valuesOf are the words that a value may be, if there is a list of them. The tag words has those of a value that may
// also be something else.
func valuesOf(v *kong.Value) (list []Candidate) {
	for _, words := range []string{v.Tag.Get("oneof"), v.Enum, v.Tag.Get("words")} {
		for word := range strings.SplitSeq(words, ",") {
			if word != "" {
				list = append(list, Candidate{Word: word})
			}
		}
	}
	return list
}

// startingWith are the candidates that begin as the word does.
func startingWith(word string, list []Candidate) []Candidate {
	return slices.DeleteFunc(list, func(c Candidate) bool { return !strings.HasPrefix(c.Word, word) })
}

// firstSentence shortens a help text to one line.
func firstSentence(help string) string {
	first, _, _ := strings.Cut(help, "\n")
	if end := strings.Index(first, ". "); end >= 0 {
		first = first[:end]
	}
	if end := strings.Index(first, ": "); end >= 40 {
		first = first[:end]
	}
	return strings.TrimSuffix(first, ".")
}

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

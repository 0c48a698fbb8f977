package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpMany is the number of flags above which --help shows only those with the tag basic.
const helpMany = 40

// helpAll is the word of --help=WORD that asks for all flags.
const helpAll = "all"

// ShortHelper is a command with many flags and with a shorter text for --help.
type ShortHelper interface {
	// ShortHelp returns what --help shows in place of Help, which --help=all shows.
	ShortHelp() string
}

// takeHelpWord keeps the word of --help=WORD and returns args with --help in its place. For package kong the flag is
// either there or not.
func (inv *Invocation) takeHelpWord(args []string) []string {
	args = slices.Clone(args)
	for i, a := range args {
		if a == "--" {
			break
		}
		if word, found := strings.CutPrefix(a, "--help="); found {
			args[i], inv.helpWord = "--help", word
		}
	}
	return args
}

// printHelp prints the help of the selected command. It hides flags in the model, which has no further use then.
func (inv *Invocation) printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	flags := slices.Concat(node.AllFlags(true)...)
	switch {
	case inv.helpWord == helpAll:
	case inv.helpWord != "":
		isMeant := func(f *kong.Flag) bool { return hasWord(f, inv.helpWord) }
		if !slices.ContainsFunc(flags, isMeant) {
			return fmt.Errorf("--help: no flag of '%s' has %q in its name or help; --help=all shows all flags",
				node.FullPath(), inv.helpWord)
		}
		node.Detail, node.Positional, node.Children = "", nil, nil
		hideOthers(flags, isMeant)
	case len(flags) > helpMany && slices.ContainsFunc(flags, IsBasic):
		if short, ok := node.Target.Addr().Interface().(ShortHelper); ok {
			node.Detail = short.ShortHelp()
		}
		hideOthers(flags, func(f *kong.Flag) bool { return IsBasic(f) || f == ctx.Model.HelpFlag })
		o.ValueFormatter = func(v *kong.Value) string { return withDefault(v, firstSentence(v.Help)) }
		defer fmt.Fprintf(ctx.Stdout, "\n--help=all shows all %d flags, and --help=WORD those with a word in their name or "+
			"help.\n", len(flags))
	}
	return kong.DefaultHelpPrinter(o, ctx)
}

// IsBasic reports whether a flag has the tag basic: most people need it.
func IsBasic(f *kong.Flag) bool { return f.Tag.Has("basic") }

// hideOthers hides the flags that are not meant.
func hideOthers(flags []*kong.Flag, isMeant func(*kong.Flag) bool) {
	for _, f := range flags {
		f.Hidden = !isMeant(f)
	}
}

// hasWord reports whether a flag has a word in its name or its help, in any case of letters.
func hasWord(f *kong.Flag, word string) bool {
	return strings.Contains(strings.ToLower(f.Name+"\n"+f.Help), strings.ToLower(word))
}

// helpText is a flag's help with its default; the variable's name follows from the flag's, so it is not repeated.
func helpText(v *kong.Value) string { return withDefault(v, v.Help) }

// withDefault returns a help text and the default of its value.
func withDefault(v *kong.Value, help string) string {
	if !v.HasDefault || v.Default == "" || v.Default == "0" {
		return help
	}
	return fmt.Sprintf("%s [%s]", help, v.Default)
}

// firstSentence returns the text up to the end of its first sentence.
func firstSentence(help string) string {
	if first, _, found := strings.Cut(help, ". "); found {
		return first + "."
	}
	return help
}

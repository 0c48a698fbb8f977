package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// flagsFile has a line for each command and group of commands, with its flags. A test beside it compares it with
// --help.
const flagsFile = "cmd/orbweaver/testdata/flags.txt"

// aFlag is a flag in a text: two hyphens and a word, not within another word.
var aFlag = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)`)

// foreignFlags are flags of other programs, and two examples of how flags are written.
const foreignFlags = "user name sco"

// commandsAndFlags reads flagsFile.
func (h *tree) commandsAndFlags() (commands, flags map[string]bool) {
	commands, flags = make(map[string]bool), make(map[string]bool)
	for line := range strings.Lines(h.texts[flagsFile]) {
		command, rest, _ := strings.Cut(line, ":")
		commands[command] = true
		for i, c := range command {
			if c == ' ' {
				delete(commands, command[:i]) // a group
			}
		}
		for _, flag := range aFlag.FindAllStringSubmatch(rest, -1) {
			flags[flag[1]] = true
		}
	}
	delete(commands, "") // the program itself
	return commands, flags
}

// checkNamedFlags finds flags in texts of the program (errors, help, logs) that no command has: a remedy that a message
// names must exist.
func checkNamedFlags(h *tree) (faults []string) {
	_, known := h.commandsAndFlags()
	h.each(func(f *goFile, n ast.Node) {
		if !strings.HasPrefix(f.dir, "engine") && !isProgram(f.dir) {
			return
		}
		for _, named := range aFlag.FindAllStringSubmatch(stringOf(n), -1) {
			if flag := strings.TrimPrefix(named[1], "no-"); !known[flag] && !known[named[1]] && !hasWord(foreignFlags, flag) {
				faults = append(faults, h.at(n)+": --"+named[1]+" is no flag")
			}
		}
	})
	return faults
}

// stringOf is the value of a string literal, "" for any other node.
func stringOf(n ast.Node) string {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}

package manual

import (
	"fmt"

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

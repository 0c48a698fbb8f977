// Package manual makes what is known of the program's commands and flags usable outside of it: man pages, shell
// completion, and a sample configuration. All of it is made from the same declarations as --help, so it cannot become
// out of date. Nothing of it is stored in the repository; a package or an archive has what its program printed.
//
//	CompletionCommand: a script that asks the hidden command complete -> Candidates(words)
//	PagesCommand:      one page for each command -> page -> roff
//	SampleCommand:     the flags of crawl as keys of a TOML file, each commented out -> Sample
package manual

// Commands are the commands that print all this.
type Commands struct {
	SampleConfig SampleCommand     `cmd:"" help:"Print a file of settings for crawl, with all defaults, commented out."`
	Completion   CompletionCommand `cmd:"" help:"Print a script that completes commands, flags and values in a shell."`
	Man          PagesCommand      `cmd:"" hidden:"" help:"Write the man pages."`
	Complete     CompleteCommand   `cmd:"" hidden:"" help:"Print the words that may stand at the cursor of a shell."`
}

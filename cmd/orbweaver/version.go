package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"orbweaver/internal/cli/command"

	"github.com/alecthomas/kong"
)

// version and commit are set by the linker (-ldflags "-X main.version=... -X main.commit=..."). Without a commit the go
// command's own record is used.
var (
	version = "0.2.0"
	commit  = ""
)

// versionFlag is --version, which needs no command.
type versionFlag bool

// BeforeReset prints the version and ends the parsing, as --help does.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, versionLine())
	app.Exit(command.ExitDone)
	return nil
}

type versionCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// Help shows an example.
func (*versionCmd) Help() string { return "Example:\n  orbweaver version" }

// versionFacts are what the command version prints as JSON.
type versionFacts struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Run prints the version.
func (c *versionCmd) Run(inv *command.Invocation) error {
	if c.JSON {
		info, _ := debug.ReadBuildInfo()
		return command.PrintJSON(inv.Stdout, versionFacts{
			version, commitOf(commit, info), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
		})
	}
	fmt.Fprintln(inv.Stdout, versionLine())
	return nil
}

// versionLine is the program's name, its version, the commit that it was built from and the Go release.
func versionLine() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("orbweaver %s (commit %s; %s %s/%s)", version, commitOf(commit, info), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

// commitOf returns the commit that the linker was given, else the one that the go command recorded, and whether files
// were changed after it. The go command records none outside of a git checkout.
func commitOf(stamped string, info *debug.BuildInfo) string {
	if stamped != "" {
		return stamped
	}
	revision, modified := "", ""
	if info != nil {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ", modified"
			}
		}
	}
	if revision == "" {
		return "unknown, since this was not built in a git checkout: 'make build COMMIT=HASH' records it"
	}
	return revision + modified
}

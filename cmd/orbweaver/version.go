package main

import (
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// version is set when a release is built (-ldflags "-X main.version=...").
var version = "0.1.0"

// versionFlag is --version, which needs no command.
type versionFlag bool

// BeforeReset prints the version and ends the parsing, as --help does.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, versionLine())
	app.Exit(exitDone)
	return nil
}

type versionCmd struct{}

// Help shows an example.
func (*versionCmd) Help() string { return "Example:\n  orbweaver version" }

// Run prints the version.
func (*versionCmd) Run(w *world) error {
	fmt.Fprintln(w.stdout, versionLine())
	return nil
}

// versionLine is the program's name, its version and the commit that it was built from.
func versionLine() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("orbweaver %s (commit %s)", version, commitOf(info))
}

// commitOf returns the commit that the go command recorded, and whether files were changed after it. It is "unknown"
// if the program was built outside of a git checkout.
func commitOf(info *debug.BuildInfo) string {
	if info == nil {
		return "unknown"
	}
	revision, modified := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	return revision + modified
}

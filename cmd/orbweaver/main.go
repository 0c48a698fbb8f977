// Command orbweaver crawls a large part of the web from one machine into WARC files, politely and completely.
//
// This package binds flags, files, the environment and signals to the engine, the simulated web and the tools; what is
// worth a unit test lives there.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"orbweaver/cmd/orbweaver/internal/archive"
	"orbweaver/cmd/orbweaver/internal/cluster"
	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/ctl"
	"orbweaver/cmd/orbweaver/internal/derivation"
	"orbweaver/cmd/orbweaver/internal/inspect"
	"orbweaver/cmd/orbweaver/internal/manual"
	"orbweaver/cmd/orbweaver/internal/text"
	"orbweaver/engine/peering/transport"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/cli/trials"
)

type cli struct {
	command.Sources

	ShowVersion versionFlag `name:"version" env:"-" help:"Print the version and the commit."`

	crawlCommands   `group:"crawls"`
	reportCommands  `group:"reports"`
	archiveCommands `group:"archives"`
	clusterCommands `group:"clusters"`
	trialCommands   `group:"trials"`
	textCommands    `group:"texts"`
	manual.Commands `group:"texts"`
}

// commandGroups are the headings of the commands, in the order of cli.
func commandGroups() []kong.Group {
	return []kong.Group{
		{Key: "crawls", Title: "Crawl:"},
		{Key: "reports", Title: "Find out what a crawl has done, and check it:"},
		{Key: "archives", Title: "Use the archive:"},
		{Key: "clusters", Title: "Several agents:"},
		{Key: "trials", Title: "Try:"},
		{Key: "texts", Title: "For scripts and packages:"},
	}
}

// crawlCommands start a crawl and control it.
type crawlCommands struct {
	Crawl   crawl.Command        `cmd:"" help:"Crawl into a directory, or resume the crawl that is there."`
	Ctl     ctl.Command          `cmd:"" help:"Control a running crawl."`
	UI      ctl.UICommand        `cmd:"" name:"ui" help:"Serve the dashboard of a running crawl on loopback, for a browser."`
	Doctor  ctl.DoctorCommand    `cmd:"" help:"Say what limits a running crawl, and what to do."`
	Explain crawl.ExplainCommand `cmd:"" help:"Say what became of URLs in a crawl, and why."`
	Botpage crawl.BotPage        `cmd:"" help:"Print a page for site owners: whose crawler this is, and how to block it."`
}

// reportCommands read a crawl directory.
type reportCommands struct {
	Report  inspect.ReportCommand  `cmd:"" help:"Print reports of a crawl: hosts, status codes, media types, depth, hops, seeds, errors, TLS faults, missing requisites, walls."`
	Skipped inspect.SkippedCommand `cmd:"" help:"List the URLs that a crawl skips because they belong to a trap, or are requisites beyond a bound."`
	Fsck    inspect.FsckCommand    `cmd:"" help:"Check every invariant of a crawl directory."`
	Audit   inspect.AuditCommand   `cmd:"" help:"Check what archives prove: which agent's copy of each page counts, and that all delays were kept."`
}

// archiveCommands read WARC files: those of this crawler, and most of them those of any other.
type archiveCommands struct {
	View     archive.ViewCommand       `cmd:"" help:"Show an archive to a browser: pages with images and links, on loopback."`
	Warc     archive.Command           `cmd:"" help:"List, print, verify and index WARC files, ours or not."`
	WACZ     archive.PackCommand       `cmd:"" name:"wacz" help:"Pack an archive into one WACZ file, like warc wacz."`
	Feed     archive.FeedCommand       `cmd:"" help:"Print what is new, changed or gone in an archive since a cursor or a time."`
	Manifest archive.ManifestCommand   `cmd:"" help:"Print the SHA-256 of each closed WARC file of a crawl, and complete or sign the manifest."`
	Upload   inspect.UploadCommand     `cmd:"" help:"Send the closed WARC files of a stopped crawl that are not sent yet."`
	Derive   derivation.Command        `cmd:"" help:"Make other files from WARC files: a columnar index, graphs, texts."`
	Graph    derivation.GraphCommand   `cmd:"" help:"Statistics and ranks of graphs that derive has made."`
	Quality  derivation.QualityCommand `cmd:"" help:"Measure the order of visits of a crawl: how soon it had the important pages."`
}

// clusterCommands are for several agents that share a crawl.
type clusterCommands struct {
	Ring cluster.RingCommand `cmd:"" help:"Print which agent owns a host, and how even the shares are."`
	CA   cluster.CACommand   `cmd:"" name:"ca" help:"Certificates for agents that share a crawl."`
}

// trialCommands need no network.
type trialCommands struct {
	Demo trials.DemoCommand `cmd:"" help:"Serve a simulated web on loopback, crawl it with the real engine, verify the archive."`
	Sim  trials.SimCommand  `cmd:"" help:"Serve the simulated web: proxy, direct, TLS and DNS."`
}

// textCommands read text and know no crawl.
type textCommands struct {
	URL     text.URLCommand    `cmd:"" name:"url" help:"Normalise URLs."`
	Robots  text.RobotsCommand `cmd:"" help:"Test URLs against a robots.txt."`
	Links   text.LinksCommand  `cmd:"" help:"Print the links that the parser finds in a file."`
	Version versionCmd         `cmd:"" help:"Print the version and the commit."`
}

func newCLI() *cli { return &cli{crawlCommands: crawlCommands{Crawl: crawl.New()}} }

func main() {
	process.SpareProcessor()
	transport.Quiet()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// collectAtStart is the garbage, in per cent of the memory in use, at which the collector runs while flags are parsed.
// It need not run then: a few MB of memory are used.
const collectAtStart = 400

// run is main without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	w := &command.Invocation{
		Context: context.Background(),
		Stdin:   stdin,
		Stdout:  stdout,
		Stderr:  stderr,
		About:   "A web crawler engine: polite, complete, and fast.",
		Example: "demo",
		Version: version,
	}
	collectAt := debug.SetGCPercent(collectAtStart)
	err := w.Parse(newCLI(), args, append(crawl.Groups(), commandGroups()...)...)
	debug.SetGCPercent(collectAt)
	if errors.Is(err, command.ErrHelp) {
		return command.ExitDone
	}
	if err = w.Check(err); err != nil {
		return w.Exit(command.Misuse(err))
	}
	return w.Exit(w.Args.Run(w))
}

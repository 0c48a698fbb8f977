package derivation

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/derive"
	"orbweaver/derive/columns"
	"orbweaver/derive/corpus"
	"orbweaver/derive/extracts"
	"orbweaver/derive/graph"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Command is the command derive.
type Command struct {
	Parquet bool `help:"Columnar index in Parquet, with the schema of Common Crawl's cc-index table."`

	WET    bool `name:"wet" help:"Texts of pages as WET files."`
	WAT    bool `name:"wat" help:"Metadata of all records as WAT files."`
	Corpus bool `help:"Texts of pages as rows with the field names of FineWeb."`
	Graph  bool `help:"Graphs of pages, hosts and domains, as text and for WebGraph."`

	CorpusFormat string `help:"Form of the rows of --corpus: jsonl or parquet." oneof:"jsonl,parquet" default:"jsonl" placeholder:"FORM"`

	Nodes   string `help:"Pages of the graph: crawled, or all, with the targets of links." default:"crawled" oneof:"crawled,all" placeholder:"WHICH"`
	Memory  int    `type:"size" help:"Memory of each worker for names and arcs of graphs, and of their sort. The process takes up to six times as much." default:"64Mi" least:"1048576" placeholder:"SIZE"`
	Out     string `help:"Directory for the outputs. The same command continues there." required:"" placeholder:"DIR"`
	Crawl   string `help:"Name of the crawl in outputs. The default is the name of the crawl directory." placeholder:"NAME"`
	Workers int    `help:"WARC files that are read at a time; 0 means one for each processor." default:"0" least:"0" most:"1024" placeholder:"N"`
	JSON    bool   `help:"Print the report as JSON."`
	Quiet   bool   `help:"Do not show progress."`

	Names []string `arg:"" name:"archive" help:"Crawl directories, directories of WARC files, or WARC files." placeholder:"ARCHIVE"`
}

// Help shows examples.
func (*Command) Help() string {
	return `Makes other files from WARC files, of this or any other crawler, in one pass. An output that is complete is not
made again: the same command continues after an interruption, and adds the files that a crawl has completed since.
Files that a crawl is writing are left out. A damaged record is reported, and all others are used.

  --parquet   DIR/parquet/crawl=NAME/subset=SUBSET/*.parquet    docs/guide/derive.md has the columns
  --wet       DIR/wet/NAME.warc.wet.gz
  --wat       DIR/wat/NAME.warc.wat.gz
  --corpus    DIR/corpus/NAME.jsonl.gz, or NAME.parquet
  --graph     DIR/graph/NAME.urls.gz, NAME.arcs.gz, NAME-host-*, NAME-domain-*, and *.graph for WebGraph

Exit status: 0 if all is well, 1 if a record was damaged or an output could not be written.

Examples:
  orbweaver derive --parquet --out out crawl
  orbweaver derive --parquet --graph --out out crawl
  orbweaver derive --parquet --crawl CC-MAIN-2024-51 --out out /data/*.warc.gz`
}

// Check implements command.Checker.
func (c *Command) Check(*command.Invocation) error {
	if !c.Parquet && !c.Graph && !c.WET && !c.WAT && !c.Corpus {
		return errors.New("nothing to make: give --parquet, --graph, --wet, --wat or --corpus")
	}
	if strings.ContainsAny(c.Crawl, "/=\x00") {
		return fmt.Errorf("--crawl: %q cannot be part of a path", c.Crawl)
	}
	return nil
}

// Run derives.
func (c *Command) Run(inv *command.Invocation) error {
	fsys := vfs.Disk()
	o := derive.Options{Dir: c.Out, Workers: c.Workers, Crawl: c.Crawl}
	if c.Parquet {
		o.Products = append(o.Products, columns.New(columns.Options{}))
	}
	if c.Graph {
		o.Products = append(o.Products, graph.New(fsys, graph.Options{
			Dir: c.Out, All: c.Nodes == "all", Name: c.Crawl, Memory: c.Memory,
		}))
	}
	extract := extracts.Options{Software: "orbweaver/" + inv.Version, Now: time.Now()}
	if c.WET {
		o.Products = append(o.Products, extracts.WET(extract))
	}
	if c.WAT {
		o.Products = append(o.Products, extracts.WAT(extract))
	}
	if c.Corpus {
		o.Products = append(o.Products, corpus.New(corpus.Options{Parquet: c.CorpusFormat == "parquet"}))
	}
	o.OnFault = func(f *warc.Fault) { fmt.Fprintln(inv.Stderr, f) }
	if !c.Quiet {
		o.OnProgress = progress(inv)
	}
	r, err := derive.Run(inv.Context, fsys, c.Names, o)
	if errors.Is(err, derive.ErrNoFiles) || errors.Is(err, derive.ErrSameName) {
		return command.Misuse(err)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		err = printReport(inv, r)
	}
	if err == nil && r.Faults > 0 {
		err = fmt.Errorf("%s in the WARC files; everything else was used", plural.Count(r.Faults, "fault"))
	}
	return err
}

// printReport prints the report as text.
func printReport(inv *command.Invocation, r *derive.Report) error {
	text := fmt.Sprintf("%s, %s, %s\n%s, %s written\n",
		plural.Count(r.Files, "WARC file"), plural.Count(r.Records, "record"), plural.Count(r.Faults, "fault"),
		plural.Count(r.Outputs, "output"), command.FormatBytes(r.Written))
	if r.Kept > 0 {
		text += fmt.Sprintf("%s %s complete before\n", plural.Count(r.Kept, "file"), plural.Verb(r.Kept, "was", "were"))
	}
	if r.Unfinished > 0 {
		text += fmt.Sprintf("%s %s still written by a crawl, and left out\n",
			plural.Count(r.Unfinished, "file"), plural.Verb(r.Unfinished, "is", "are"))
	}
	_, err := fmt.Fprint(inv.Stdout, text)
	return err
}

// progressEvery is the time between two lines of progress.
const progressEvery = 2 * time.Second

// progress prints a line every few seconds.
func progress(inv *command.Invocation) func(derive.Progress) {
	began := time.Now()
	printed := began
	var before int64
	return func(p derive.Progress) {
		now := time.Now()
		since := now.Sub(printed)
		if since < progressEvery {
			return
		}
		if p.Combining != "" {
			fmt.Fprintf(inv.Stderr, "combining: %s, %.0f s\n", p.Combining, now.Sub(began).Seconds())
		} else {
			rate := float64(p.Bytes-before) / since.Seconds()
			fmt.Fprintf(inv.Stderr, "reading: %d of %d files, %s of %s, %d records, %s/s\n", p.Files, p.FilesOf,
				command.FormatBytes(p.Bytes), command.FormatBytes(p.BytesOf), p.Records, command.FormatBytes(int64(rate)))
		}
		printed, before = now, p.Bytes
	}
}

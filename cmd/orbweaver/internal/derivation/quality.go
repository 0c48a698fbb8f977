package derivation

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orbweaver/derive"
	"orbweaver/derive/quality"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// QualityCommand is the command quality.
type QualityCommand struct {
	Picture string `help:"Also draw the curves: an SVG file." placeholder:"FILE"`
	Workers int    `help:"WARC files read at a time; 0: one for each processor." default:"0" least:"0" most:"1024" placeholder:"N"`
	reading

	JSON  bool `help:"Print one object as JSON: area, at_20_percent, gain and tau have a value for each order, curves the part at 0, 1 ... 100 % of the pages."`
	Quiet bool `help:"Show no progress on a terminal."`

	Names []string `arg:"" exists:"file or directory" name:"archive" help:"Crawl directories, directories of WARC files, or WARC files of one crawl." placeholder:"ARCHIVE"`
}

// Help shows examples.
func (*QualityCommand) Help() string {
	return `Measures the order of visits of a crawl from its archive. It is compared with breadth-first, depth-first and
random order of the same pages, and with the omniscient order, which has the most important page first.

  area    mean part of all PageRank that the first pages have: 0.5 for a random order
  20 %    the part that the first fifth of the pages has
  gain    where the area lies between breadth-first, 0, and omniscient, 1
  tau     Kendall's rank correlation with breadth-first: 1 for the same order

The last lines compare it with the order of discovery, site by site. Tau is 1 there with one worker; several workers
find the links of pages that are answered at the same time in any order.

Pages are HTML documents and redirects with a status from 200 to 399, by their first capture. Roots are the seeds of the
crawl directories and of metadata records, and sitemaps; else pages that no earlier one links to. Pages that links of
the archive do not reach from the roots are left out: finds of --speculative and --mine, for instance. Give all
archives of a crawl. Ranks are those of the graph of the pages. Temporary files take 12 bytes for each link, and the
text of the links, below TMPDIR.

Exit status: 0 if all is well, 1 if a record was damaged or a file was left out: all others were used, 2 if --picture
cannot be written.

Examples:
  orbweaver quality crawl
  orbweaver quality --json crawl | jq .gain
  orbweaver quality --picture order.svg crawl-1 crawl-2`
}

// Check implements command.Checker.
func (c *QualityCommand) Check(*command.Invocation) error {
	if slices.Contains(c.Names, warc.Stdin) {
		return warc.ErrStdinInput
	}
	return nil
}

// checkPicture reports whether the picture can be written.
func (c *QualityCommand) checkPicture() error {
	if c.Picture == "" {
		return nil
	}
	if info, err := os.Stat(c.Picture); err == nil && info.IsDir() {
		return command.Misuse(fmt.Errorf("--picture: %s is a directory; give the name of a file", c.Picture))
	}
	name := c.Picture + vfs.TemporarySuffix
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(name))
	}
	if err != nil {
		return command.Misuse(fmt.Errorf("--picture: %s cannot be written: %w", c.Picture, err))
	}
	return nil
}

// Run measures.
func (c *QualityCommand) Run(inv *command.Invocation) (err error) {
	if err := c.checkPicture(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "orbweaver-quality-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dir = filepath.ToSlash(dir)
	line := console.StartStatus(inv.Stderr, c.Quiet)
	defer line.Close()
	product := quality.New(vfs.Disk(), dir)
	for _, name := range c.Names {
		if err := product.AddSeeds(filepath.ToSlash(name)); err != nil {
			return err
		}
	}
	read, err := c.pass(inv, line, c.Names, derive.Options{
		Dir: dir, Products: []derive.Product{product}, Workers: c.Workers,
	})
	crawl := product.Crawl()
	if crawl != nil {
		defer func() { err = errors.Join(err, crawl.Close()) }()
	}
	if err != nil {
		return err
	}
	r, err := crawl.Measure(inv.Context, func(round int) {
		line.SetStatus(console.Status{Reason: fmt.Sprintf("PageRank, round %d", round)})
	})
	line.Close()
	if err != nil {
		return err
	}
	if c.Picture != "" {
		draw := func(w io.Writer) error { return drawQuality(w, r) }
		if err := vfs.WriteAtomic(vfs.Disk(), filepath.ToSlash(c.Picture), draw); err != nil {
			return fmt.Errorf("--picture: %w", err)
		}
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		err = r.Print(inv.Stdout)
	}
	fmt.Fprint(inv.Stderr, unfinished(read))
	return errors.Join(err, c.errUnread(inv, read))
}

// Sizes of the picture, in pixels.
const (
	panelSide  = 300
	panelLeft  = 50 // of the first panel
	panelTop   = 40
	panelApart = 380
)

// drawQuality draws the curves: the part of all rank against the part of pages, by PageRank and by in-degree.
func drawQuality(w io.Writer, r *quality.Report) error {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="760" height="430" ` +
		`font-family="sans-serif" font-size="12">` + "\n" +
		`<rect width="100%" height="100%" fill="white"/>` + "\n")
	drawPanel(&b, panelLeft, "part of all PageRank", r.Figures)
	drawPanel(&b, panelLeft+panelApart, "part of all links", r.InDegree)
	for i, name := range quality.Orders() {
		x := panelLeft + i*140
		fmt.Fprintf(&b, `<path d="M%d 408h24" %s/><text x="%d" y="412">%s</text>`+"\n", x, stroke(name), x+30, name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// stroke is how the curve of an order is drawn.
func stroke(order string) string {
	switch order {
	case quality.Visited:
		return `fill="none" stroke="#0b6e4f" stroke-width="2.5"`
	case quality.BreadthFirst:
		return `fill="none" stroke="#1f5fbf" stroke-width="1.5"`
	case quality.DepthFirst:
		return `fill="none" stroke="#b3541e" stroke-width="1.5"`
	case quality.Omniscient:
		return `fill="none" stroke="black" stroke-width="1.5"`
	}
	return `fill="none" stroke="#888" stroke-width="1" stroke-dasharray="4 3"`
}

// drawPanel draws one diagram, whose lower left corner is at x.
func drawPanel(b *strings.Builder, x int, title string, f quality.Figures) {
	bottom := panelTop + panelSide
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x, panelTop-12, title)
	for i := 0; i <= 100; i += 20 {
		at := i * panelSide / 100
		fmt.Fprintf(b, `<path d="M%d %dv-%dM%d %dh%d" stroke="#ddd"/>`, x+at, bottom, panelSide, x, bottom-at, panelSide)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%d %%</text>`, x+at, bottom+16, i)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%.1f</text>`+"\n", x-6, bottom-at+4, float64(i)/100)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">part of the pages</text>`+"\n", x+panelSide/2, bottom+36)
	for _, name := range quality.Orders() {
		fmt.Fprintf(b, `<path d="M`)
		for i, part := range f.Curves[name] {
			fmt.Fprintf(b, "%.1f %.1f ", float64(x)+panelSide*float64(i)/100, float64(bottom)-panelSide*part)
		}
		fmt.Fprintf(b, `" %s/>`+"\n", stroke(name))
	}
}

package derivation

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"orbweaver/derive/centrality"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// GraphCommand is the command graph.
type GraphCommand struct {
	Stats graphStatsCmd `cmd:"" help:"Print nodes, arcs, degrees and size of each graph."`
	Rank  graphRankCmd  `cmd:"" help:"Compute PageRank and harmonic centrality of each graph."`
}

// Help shows examples.
func (*GraphCommand) Help() string {
	return `Reads the graphs that "derive --graph" made, or others in WebGraph's BV format.

Examples:
  orbweaver graph stats out
  orbweaver graph rank out`
}

// graphs are the graphs of a directory.
type graphs struct {
	Dir   string `arg:"" exists:"directory" help:"Directory of outputs of derive, or of NAME.graph and NAME.properties." placeholder:"DIR"`
	Which string `help:"Only the graph NAME, NAME-host or NAME-domain; all without." placeholder:"NAME"`
}

// bases returns the names of the graphs without suffix.
func (g *graphs) bases(fsys vfs.FS) ([]string, error) {
	for _, dir := range []string{path.Join(g.Dir, "graph"), g.Dir} {
		names, err := fsys.List(dir)
		if err != nil {
			continue
		}
		var found []string
		for _, name := range names {
			base, ok := strings.CutSuffix(name, ".properties")
			if ok && (g.Which == "" || g.Which == base) {
				found = append(found, path.Join(dir, base))
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, command.Misuse(fmt.Errorf("no graph in %s: orbweaver derive --graph makes them", g.Dir))
}

type graphStatsCmd struct {
	graphs

	JSON bool `help:"Print JSON, one object for each graph."`
	Top  int  `help:"Number of nodes with the most incoming arcs to name." default:"5" least:"0" most:"1000" placeholder:"N"`
}

// graphStats are the statistics of a graph.
type graphStats struct {
	Graph       string        `json:"graph"`
	Nodes       int64         `json:"nodes"`
	Arcs        int64         `json:"arcs"`
	BitsPerLink float64       `json:"bits_per_link"`
	Loops       int64         `json:"loops"`
	Dangling    int64         `json:"dangling"`
	Isolated    int64         `json:"isolated"`
	OutMax      int64         `json:"out_degree_max"`
	InMax       int64         `json:"in_degree_max"`
	Top         []graphDegree `json:"top"`
}

// graphDegree is a node with its number of incoming arcs.
type graphDegree struct {
	Node     int    `json:"node"`
	Name     string `json:"name,omitempty"`
	InDegree uint32 `json:"in_degree"`
}

// Help shows an example.
func (*graphStatsCmd) Help() string { return "Example:\n  orbweaver graph stats --json out" }

// Run prints.
func (c *graphStatsCmd) Run(inv *command.Invocation) error {
	fsys := vfs.Disk()
	bases, err := c.bases(fsys)
	if err != nil {
		return err
	}
	for _, base := range bases {
		s, err := c.measure(inv, fsys, base)
		if err != nil {
			return err
		}
		if c.JSON {
			err = command.PrintJSON(inv.Stdout, s)
		} else {
			err = s.print(inv.Stdout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *graphStatsCmd) measure(inv *command.Invocation, fsys vfs.FS, base string) (*graphStats, error) {
	g, err := centrality.Open(fsys, base)
	if err != nil {
		return nil, err
	}
	d, err := g.CountDegrees(inv.Context)
	if err != nil {
		return nil, err
	}
	s := &graphStats{
		Graph: path.Base(base), Nodes: g.Nodes, Arcs: g.Arcs, BitsPerLink: g.BitsPerLink(), Loops: d.Loops,
		Dangling: d.Dangling, Isolated: d.Isolated, OutMax: d.OutMax, Top: []graphDegree{},
	}
	in := make([]float64, len(d.In))
	for i, n := range d.In {
		in[i] = float64(n)
	}
	wanted := map[int]int{}
	for i, node := range centrality.Order(in) {
		if i == 0 {
			s.InMax = int64(d.In[node])
		}
		if i >= c.Top {
			break
		}
		wanted[node] = i
		s.Top = append(s.Top, graphDegree{Node: node, InDegree: d.In[node]})
	}
	err = eachVertex(fsys, base, func(node int, name []byte) error {
		if i, ok := wanted[node]; ok {
			s.Top[i].Name = string(name)
		}
		return nil
	})
	return s, err
}

func (s *graphStats) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %s, %s, %.2f bits per link\n"+
		"  %s, %s without outgoing arcs, %s without any; most outgoing %s, most incoming %s\n",
		s.Graph, plural.Count(s.Nodes, "node"), plural.Count(s.Arcs, "arc"), s.BitsPerLink, plural.Count(s.Loops, "loop"),
		plural.Count(s.Dangling, "node"), plural.Number(s.Isolated), plural.Number(s.OutMax), plural.Number(s.InMax))
	for _, t := range s.Top {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %d incoming: %s\n", t.InDegree, command.PlainText(t.Name))
		}
	}
	return err
}

// nameMost is the length in bytes of the longest name of a node.
const nameMost = 1 << 20

// eachVertex calls f with the name of each node, and for domains the number of hosts behind a tab. Without a list of
// names it calls nothing.
func eachVertex(fsys vfs.FS, base string, f func(node int, name []byte) error) (err error) {
	suffix, isNumbered := ".urls.gz", false
	if _, err := fsys.Size(base + suffix); err != nil {
		suffix, isNumbered = "-vertices.txt.gz", true
	}
	if _, err := fsys.Size(base + suffix); err != nil {
		return nil //nolint:nilerr // a graph of others may have no names
	}
	file, err := fsys.Open(base + suffix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return fmt.Errorf("%s%s: %w", base, suffix, err)
	}
	for lines := cdxj.ReadLines(z, nameMost); ; {
		name, err := lines.Next()
		if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s%s: %w", base, suffix, err)
		}
		if name = bytes.TrimRight(name, "\r\n"); isNumbered {
			_, name, _ = bytes.Cut(name, []byte("\t"))
		}
		if err := f(lines.Number-1, name); err != nil {
			return err
		}
	}
}

type graphRankCmd struct {
	graphs

	Alpha  float64 `help:"Probability that PageRank's surfer follows a link." default:"0.85" placeholder:"P"`
	Memory int64   `type:"size" help:"Memory of the counters for harmonic centrality; with more they are more exact. Arcs are kept in memory if they take at most a quarter of it." default:"2Gi" least:"1048576" placeholder:"SIZE"`
	Quiet  bool    `help:"Show no progress on a terminal."`
}

// Help shows examples.
func (*graphRankCmd) Help() string {
	return `Writes NAME-ranks.txt.gz beside each graph, in the form of Common Crawl's ranks: position and value by harmonic
centrality, position and value by PageRank, name. Lines are sorted by the first column. Harmonic centrality is exact
if the graph is small enough for the memory; otherwise the deviation is printed (HyperBall).

For a graph of domains it also writes NAME-budgets.tsv: the weights of domains for a later crawl (crawl --budgets).

Examples:
  orbweaver graph rank out
  orbweaver crawl --visit ranked --budgets out/graph/crawl-domain-budgets.tsv --dir next --seeds FILE
  zcat out/graph/crawl-host-ranks.txt.gz | head`
}

// Check implements command.Checker.
func (c *graphRankCmd) Check(*command.Invocation) error {
	if c.Alpha <= 0 || c.Alpha >= 1 {
		return fmt.Errorf("--alpha: %g is not between 0 and 1", c.Alpha)
	}
	return nil
}

// Run ranks.
func (c *graphRankCmd) Run(inv *command.Invocation) error {
	fsys := vfs.Disk()
	bases, err := c.bases(fsys)
	if err != nil {
		return err
	}
	for _, base := range bases {
		if err := c.rank(inv, fsys, base); err != nil {
			return err
		}
	}
	return nil
}

func (c *graphRankCmd) rank(inv *command.Invocation, fsys vfs.FS, base string) error {
	g, err := centrality.Open(fsys, base)
	if err != nil {
		return err
	}
	o := centrality.Options{Alpha: c.Alpha, Memory: c.Memory}
	progress, end := console.Progress(inv.Stderr, "ranking "+path.Base(base)+":", c.Quiet)
	defer end()
	o.OnRound = func(what string, round int, change float64) {
		progress(fmt.Sprintf("%s, round %d, change %.3g", what, round, change))
	}
	pageRank, err := g.PageRank(inv.Context, o)
	if err != nil {
		return err
	}
	harmonic, deviation, err := g.Harmonic(inv.Context, o)
	if err != nil {
		return err
	}
	names := make([]string, g.Nodes)
	err = eachVertex(fsys, base, func(node int, name []byte) error {
		if node >= len(names) {
			return fmt.Errorf("%s has more names than %d nodes", base, len(names))
		}
		names[node] = string(name)
		return nil
	})
	if err != nil {
		return err
	}
	name := base + "-ranks.txt.gz"
	progress("writing")
	err = vfs.WriteAtomic(fsys, name, func(w io.Writer) error { return writeRanks(w, base, names, harmonic, pageRank) })
	if err == nil && strings.HasSuffix(base, domainSuffix) {
		err = writeBudgets(inv.Context, fsys, g, base, names, pageRank)
	}
	if err != nil {
		return err
	}
	end()
	accuracy := "exact"
	if deviation > 0 {
		accuracy = fmt.Sprintf("standard error of a count %.1f %%", 100*deviation)
	}
	_, err = fmt.Fprintf(inv.Stdout, "%s: %s; harmonic centrality: %s\n", name, plural.Count(g.Nodes, "node"), accuracy)
	return err
}

// writeRanks writes the lines by harmonic centrality.
func writeRanks(w io.Writer, base string, names []string, harmonic, pageRank []float64) error {
	column := "url"
	switch {
	case strings.HasSuffix(base, "-host"):
		column = "host_rev"
	case strings.HasSuffix(base, domainSuffix):
		column = "host_rev\t#n_hosts"
	}
	z := gzip.NewWriter(w)
	fmt.Fprintf(z, "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#%s\n", column)
	position := make([]int, len(names))
	for i, node := range centrality.Order(pageRank) {
		position[node] = i + 1
	}
	for i, node := range centrality.Order(harmonic) {
		_, err := fmt.Fprintf(z, "%d\t%.9g\t%d\t%.9g\t%s\n", i+1, harmonic[node], position[node], pageRank[node],
			names[node])
		if err != nil {
			return err
		}
	}
	return z.Close()
}

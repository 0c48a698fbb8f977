package derivation

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"orbweaver/derive"
	"orbweaver/derive/columns"
	"orbweaver/derive/corpus"
	"orbweaver/derive/extracts"
	"orbweaver/derive/fasttext"
	"orbweaver/derive/graph"
	"orbweaver/derive/minhash"
	"orbweaver/derive/tokens"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Command is the command derive.
type Command struct {
	Parquet bool `help:"Columnar index in Parquet, with the schema of Common Crawl's cc-index table."`

	WET    bool `name:"wet" help:"Texts of pages as WET files."`
	WAT    bool `name:"wat" help:"Metadata of all records as WAT files."`
	Corpus bool `help:"Texts of pages as rows with the field names of FineWeb or OSCAR."`
	Graph  bool `help:"Graphs of pages, hosts and domains, as text and for WebGraph."`

	MinHash bool `name:"minhash" help:"Signatures of texts, and clusters of pages whose texts are nearly the same."`

	CorpusFormat string `help:"Form of the rows of --corpus: jsonl and parquet have the fields of FineWeb, oscar those of OSCAR 23.01. oscar needs --language-model." oneof:"jsonl,parquet,oscar" default:"jsonl" placeholder:"FORM"`

	LanguageModel string `help:"Model of fastText that detects the languages of pages, for --corpus, --wet and --parquet: such as lid.176.ftz." placeholder:"FILE"`

	Tokenizer string `help:"Vocabulary of GPT-2, r50k_base.tiktoken: counts the tokens of each page, for --corpus." placeholder:"FILE"`

	Nodes   string `help:"Pages of the graph: crawled, or all, with the targets of links." default:"crawled" oneof:"crawled,all" placeholder:"WHICH"`
	Memory  int    `type:"size" help:"Memory of each worker for names and arcs of graphs, and of the sorts of --graph and --minhash. For graphs, the process takes up to six times as much." default:"64Mi" least:"1048576" placeholder:"SIZE"`
	Out     string `help:"Directory for the outputs. The same command continues there." required:"" placeholder:"DIR"`
	Crawl   string `help:"Name of the crawl in outputs. The default is the name of the crawl directory." placeholder:"NAME"`
	Workers int    `help:"WARC files that are read at a time; 0 means one for each processor." default:"0" least:"0" most:"1024" placeholder:"N"`

	reading

	JSON  bool `help:"Print the report as JSON."`
	Quiet bool `help:"Show no progress on a terminal."`

	Names []string `arg:"" exists:"file or directory" name:"archive" help:"Crawl directories, directories of WARC files, or WARC files." placeholder:"ARCHIVE"`
}

// Help shows examples.
func (*Command) Help() string {
	return `Makes other files from WARC files, of this or any other crawler, in one pass. An output that is complete is not
made again: the same command continues after an interruption, and adds the files that a crawl has completed since.
Files that a crawl is writing are left out. A damaged record is reported, and all others are used.
With --parquet alone, and the CDXJ index beside a file, only the start of each page is read: damage behind it is not
found. "orbweaver warc verify" finds it.

  --parquet   DIR/parquet/crawl=NAME/subset=SUBSET/*.parquet    docs/guide/derive.md has the columns
  --wet       DIR/wet/NAME.warc.wet.gz
  --wat       DIR/wat/NAME.warc.wat.gz
  --corpus    DIR/corpus/NAME.jsonl.gz, NAME.parquet, or NAME.jsonl.zst for OSCAR
  --minhash   DIR/minhash/signatures/NAME.jsonl.gz, DIR/minhash/clusters.jsonl.gz
  --graph     DIR/graph/NAME.urls.gz, NAME.arcs.gz, NAME-host-*, NAME-domain-*, and *.graph for WebGraph

--language-model names a file of the user: lid.176.ftz and lid.176.bin of fastText are at
` + fasttext.ModelAddress + `

WARC files that were sent to an object store and removed here (--upload-then delete) are left out and named, and all
others are used. With --from-store they are read there: each once, in order, and compared with its SHA-256.

Exit status: 0 if all is well, 1 if a record was damaged, a file was left out or an output could not be written.

Examples:
  orbweaver derive --parquet --out out crawl
  orbweaver derive --parquet --graph --out out crawl
  orbweaver derive --parquet --from-store --out out crawl
  orbweaver derive --parquet --crawl CC-MAIN-2024-51 --out out /data/*.warc.gz`
}

// Check implements command.Checker.
func (c *Command) Check(*command.Invocation) error {
	if !c.Parquet && !c.Graph && !c.WET && !c.WAT && !c.Corpus && !c.MinHash {
		return errors.New("nothing to make: give --parquet, --graph, --wet, --wat, --corpus or --minhash")
	}
	if c.LanguageModel != "" && !c.Corpus && !c.WET && !c.Parquet {
		return errors.New("--language-model: only --corpus, --wet and --parquet have languages")
	}
	if c.Tokenizer != "" && !c.Corpus {
		return errors.New("--tokenizer: only --corpus has numbers of tokens")
	}
	if c.Corpus && c.CorpusFormat == string(corpus.OSCAR) {
		if c.LanguageModel == "" {
			return errors.New("--corpus-format oscar: give --language-model: rows of OSCAR have the languages of lines")
		}
		if c.Tokenizer != "" {
			return errors.New("--corpus-format oscar: rows of OSCAR have no number of tokens; leave --tokenizer out")
		}
	}
	if slices.Contains(c.Names, warc.Stdin) {
		return warc.ErrStdinInput
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
	identity := ""
	var err error
	if c.LanguageModel != "" {
		model, err := fasttext.OpenLanguages(fsys, c.LanguageModel)
		if err != nil {
			return command.Misuse(fmt.Errorf("--language-model: %w", err))
		}
		defer func() { _ = model.Close() }() // it was only read
		o.NewLanguageDetector, identity = model.NewDetector, model.Identity()
	}
	if o.Products, err = c.products(inv, fsys, identity); err != nil {
		return err
	}
	line := console.StartStatus(inv.Stderr, c.Quiet)
	defer line.Close()
	r, err := c.pass(inv, line, c.Names, o)
	line.Close()
	if err != nil {
		return err
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		err = printReport(inv, r)
	}
	return errors.Join(err, c.errUnread(inv, r))
}

// products returns what to make. languageModel is the identity of the model.
func (c *Command) products(inv *command.Invocation, fsys vfs.FS, languageModel string) ([]derive.Product, error) {
	var products []derive.Product
	extract := extracts.Options{Software: "orbweaver/" + inv.Version, Now: time.Now(), LanguageModel: languageModel}
	if c.Parquet {
		products = append(products, columns.New(columns.Options{LanguageModel: languageModel}))
	}
	if c.Graph {
		products = append(products, graph.New(fsys, graph.Options{
			Dir: c.Out, All: c.Nodes == "all", Name: c.Crawl, Memory: c.Memory,
		}))
	}
	if c.WET {
		products = append(products, extracts.WET(extract))
	}
	if c.WAT {
		products = append(products, extracts.WAT(extract))
	}
	if c.Corpus {
		o := corpus.Options{Form: corpus.Form(c.CorpusFormat), LanguageModel: languageModel}
		if err := c.countTokens(fsys, &o); err != nil {
			return nil, err
		}
		products = append(products, corpus.New(o))
	}
	if c.MinHash {
		products = append(products, minhash.New(fsys, minhash.Options{Dir: c.Out, Memory: c.Memory}))
	}
	return products, nil
}

// countTokens opens the vocabulary, if there is one.
func (c *Command) countTokens(fsys vfs.FS, o *corpus.Options) error {
	if c.Tokenizer == "" {
		return nil
	}
	file, err := vfs.ReadFile(fsys, c.Tokenizer)
	if errors.Is(err, fs.ErrNotExist) {
		return command.Misuse(fmt.Errorf(
			"--tokenizer: there is no file %s; the one of GPT-2 is at %s", c.Tokenizer, tokens.Address))
	}
	if err != nil {
		return err
	}
	vocabulary, err := tokens.Open(file)
	if err != nil {
		return command.Misuse(fmt.Errorf("--tokenizer: %s: %w", c.Tokenizer, err))
	}
	o.NewTokenCounter = func() corpus.TokenCounter { return vocabulary.NewCounter() }
	o.Tokenizer = vocabulary.Identity()
	return nil
}

// printReport prints the report as text.
func printReport(inv *command.Invocation, r *derive.Report) error {
	text := fmt.Sprintf("%s, %s, %s\n%s, %s written\n",
		plural.Count(r.Files, "WARC file"), plural.Count(r.Records, "record"), plural.Count(r.Faults, "fault"),
		plural.Count(r.Outputs, "output"), plural.Bytes(r.Written))
	if r.Kept > 0 {
		text += fmt.Sprintf("%s %s complete before\n", plural.Count(r.Kept, "file"), plural.Verb(r.Kept, "was", "were"))
	}
	text += unfinished(r)
	if r.FromStore > 0 {
		text += fmt.Sprintf("%s, %s, %s read from the object store\n", plural.Count(r.FromStore, "file"),
			plural.Bytes(r.StoreBytes), plural.Verb(r.FromStore, "was", "were"))
	}
	_, err := fmt.Fprint(inv.Stdout, text)
	return err
}

// statusOf returns the status line of a run that has taken so long.
func statusOf(p derive.Progress, taken time.Duration) console.Status {
	if p.Combining != "" {
		return console.Status{Reason: "combining " + p.Combining}
	}
	rate := float64(p.Bytes) / max(taken.Seconds(), 1)
	reason := "reading"
	if p.StoreBytes > 0 {
		reason += ", " + plural.Bytes(p.StoreBytes) + " from the object store"
	}
	return console.Status{Reason: reason, Numbers: []console.Number{
		{Text: fmt.Sprintf("%d of %s", p.Files, plural.Count(p.FilesOf, "file")), Rank: 2},
		{Text: plural.Bytes(p.Bytes) + " of " + plural.Bytes(p.BytesOf), Rank: 3},
		{Text: plural.Count(p.Records, "record"), Rank: 0},
		{Text: plural.Bytes(int64(rate)) + "/s", Rank: 1},
	}}
}

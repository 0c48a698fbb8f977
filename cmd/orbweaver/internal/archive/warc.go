package archive

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
	"orbweaver/warc/waczfs"
	"orbweaver/warc/warctool"
)

// Command is the command warc.
type Command struct {
	JSON bool `help:"Print JSON, one object a line."`

	Ls         warcLsCmd         `cmd:"" help:"List records: offset, type, date, URI, length."`
	Cat        warcCatCmd        `cmd:"" help:"Print records, or their payload."`
	Get        warcGetCmd        `cmd:"" help:"Print what was stored of a URL, also while the crawl runs."`
	Verify     warcVerifyCmd     `cmd:"" help:"Check framing, fields, digests and references."`
	Index      warcIndexCmd      `cmd:"" help:"Print the sorted CDXJ, or write it beside each file."`
	WACZ       WACZCommand       `cmd:"" name:"wacz" help:"Pack WARC files into one WACZ file, which ReplayWeb.page opens at once."`
	Recompress warcRecompressCmd `cmd:"" help:"Compress each record separately, so that an index can locate it."`
	Repair     warcRepairCmd     `cmd:"" help:"Write what is whole of a damaged file into a new one, and name what is not."`
	Walls      warcWallsCmd      `cmd:"" help:"Find answers of protection services, to try rules for --walls."`
	Train      warcTrainCmd      `cmd:"" help:"Make a zstd dictionary for archives like these, for crawl --warc-dictionary."`
}

// Help shows examples.
func (*Command) Help() string {
	return `Files are WARC 0.17 to 1.1 or ARC 1 and 2, plain or packed with gzip or zstd, made by any program. A WACZ file
is read like a directory of its WARC files, and so is a list of several (profile multi-wacz-package). The bytes of a
file decide, whatever its name; in a directory, files with the usual names are read, and others like them are
named. - is standard input, for commands that read files in order. s3://BUCKET/KEY is an object, or a prefix as a
directory, which is only read, with the keys in the environment.

Examples:
  orbweaver warc ls crawl/warc/*.warc.gz
  orbweaver warc cat --uri https://example.org/ --payload --decode FILE
  orbweaver warc get --dir crawl https://example.org/
  orbweaver warc verify crawl/warc/*.warc.gz
  orbweaver warc verify --against-manifest crawl/warc/manifest.jsonl
  orbweaver warc index --write FILE
  orbweaver warc wacz --out site.wacz crawl/warc/*.warc.gz`
}

func (c *Command) tool(inv *command.Invocation) *warctool.Tool {
	return &warctool.Tool{FS: receivers.Disk(), Out: inv.Stdout, Err: inv.Stderr, JSON: c.JSON}
}

// each calls do with the WARC files of some names: a directory or a WACZ file stands for those in it.
func (c *Command) each(
	inv *command.Invocation, names []string, do func(t *warctool.Tool, files ...string) error,
) error {
	t := c.tool(inv)
	files, err := find(inv, t.FS, names)
	if err != nil {
		return err
	}
	return do(t, files...)
}

// find returns the WARC files of some names, at least one. What is not read is said.
func find(inv *command.Invocation, disk vfs.FS, names []string) ([]string, error) {
	files, unread, err := warc.FindInputs(disk, names...)
	if text := warc.UnreadSentence(unread); text != "" {
		fmt.Fprintln(inv.Stderr, text)
	}
	if err == nil && len(files) == 0 {
		err = errNoWARC
	}
	return files, err
}

var errNoWARC = errors.New("no WARC file there")

type warcLsCmd struct {
	Files []string `arg:"" help:"WARC, ARC or WACZ files, or directories of them; - is standard input." name:"file"`
}

// Help shows an example.
func (*warcLsCmd) Help() string { return "Example:\n  orbweaver warc ls crawl/warc/*.warc.gz" }

// Run lists.
func (x *warcLsCmd) Run(inv *command.Invocation, c *Command) error {
	return c.each(inv, x.Files, (*warctool.Tool).List)
}

type warcCatCmd struct {
	Offset  int64  `help:"Record at this offset; all without." default:"-1" least:"-1" placeholder:"BYTES"`
	URI     string `name:"uri" help:"Records with this target URI." placeholder:"URI"`
	Type    string `help:"Only records of this type." placeholder:"TYPE"`
	Payload bool   `help:"The body alone, without head and chunking."`
	Decode  bool   `help:"The body without its content encodings, too."`
	Titles  bool   `help:"Print a line before each payload: ==> URI, file and offset <==."`

	Files []string `arg:"" help:"WARC, ARC or WACZ files, or directories of them; - is standard input." name:"file"`
}

// Help shows examples.
func (*warcCatCmd) Help() string {
	return `With --json, each record is an object with its fields and its block; with --payload, with the payload instead.
Bytes that are not UTF-8 are in base64, which "encoding" says.

Examples:
  orbweaver warc cat --offset 1234 FILE
  orbweaver warc cat --type response --payload --titles crawl/warc/*.warc.gz
  orbweaver warc --json cat --type metadata crawl/warc/*.warc.gz
  orbweaver warc cat --uri https://example.org/ --type response --payload --decode FILE`
}

// Run prints records.
func (x *warcCatCmd) Run(inv *command.Invocation, c *Command) error {
	o := warctool.CatOptions{Offset: x.Offset, URI: x.URI, Payload: x.Payload, Decode: x.Decode, Titles: x.Titles}
	if x.Offset >= 0 && len(x.Files) > 1 {
		return command.Misuse(errors.New("--offset: give one file"))
	}
	if x.Type != "" {
		if o.Type = warc.ParseType(x.Type); o.Type == warc.Unknown {
			return command.Misuse(fmt.Errorf("--type: %q is no record type such as response, request or revisit", x.Type))
		}
	}
	err := c.each(inv, x.Files, func(t *warctool.Tool, files ...string) error { return t.Cat(o, files...) })
	if errors.Is(err, warctool.ErrNotFound) {
		return fmt.Errorf("%w; 'orbweaver warc ls' shows what is there", err)
	}
	return err
}

type warcVerifyCmd struct {
	AgainstManifest string `help:"Compare length and SHA-256 of the files with a manifest: manifest.jsonl of a crawl, or lines of sha256sum." placeholder:"FILE"`
	PublicKey       string `help:"PEM file of the key whose signature the manifest must have, in the file with .sig beside it." placeholder:"FILE"`

	Files []string `arg:"" optional:"" help:"WARC files or directories; give all of a crawl, since records name each other. The default is the directory of the manifest. Or WACZ files, or the list of several." name:"file"`
}

// Help shows examples.
func (*warcVerifyCmd) Help() string {
	return `Exit status: 0 all is well, 1 it is not. With a manifest, files that are missing or not listed are errors, too.

Examples:
  orbweaver warc verify crawl/warc/*.warc.gz
  orbweaver warc verify --against-manifest crawl/warc/manifest.jsonl
  orbweaver warc verify site.wacz`
}

// Run verifies.
func (x *warcVerifyCmd) Run(inv *command.Invocation, c *Command) error {
	switch {
	case x.AgainstManifest == "" && x.PublicKey != "":
		return command.Misuse(errors.New("--public-key: give --against-manifest, too"))
	case x.AgainstManifest == "" && len(x.Files) == 0:
		return command.Misuse(errors.New("give WARC files, or --against-manifest"))
	case x.AgainstManifest == "" && slices.ContainsFunc(x.Files, isWACZ):
		return x.verifyWACZ(inv, c)
	case x.AgainstManifest == "":
		return c.each(inv, x.Files, (*warctool.Tool).Verify)
	}
	if x.PublicKey != "" {
		text, err := vfs.ReadFile(vfs.Disk(), x.PublicKey)
		if err != nil {
			return fmt.Errorf("--public-key: %w", err)
		}
		key, err := fixity.ReadPublicKey(text)
		if err != nil {
			return command.Misuse(fmt.Errorf("--public-key: %w", err))
		}
		if err := fixity.CheckSignature(vfs.Disk(), x.AgainstManifest, key); err != nil {
			return err
		}
	}
	return c.tool(inv).VerifyAgainst(x.AgainstManifest, x.Files...)
}

// isWACZ reports whether a file is a WACZ, or a list of several.
func isWACZ(name string) bool {
	return strings.HasSuffix(name, ".json") || waczfs.IsFile(receivers.Disk(), name)
}

// verifyWACZ checks WACZ files.
func (x *warcVerifyCmd) verifyWACZ(inv *command.Invocation, c *Command) error {
	faults := 0
	for _, name := range x.Files {
		if !isWACZ(name) {
			return command.Misuse(fmt.Errorf("%s: give either WARC files or WACZ files", name))
		}
		r, err := warctool.VerifyWACZ(receivers.Disk(), name, func(err error) {
			fmt.Fprintf(inv.Stderr, "%q\n", err.Error())
		})
		if err != nil {
			return err
		}
		faults += r.Faults
		for _, what := range r.Unchecked {
			fmt.Fprintf(inv.Stderr, "not checked: %q\n", what)
		}
		if c.JSON {
			err = json.NewEncoder(inv.Stdout).Encode(r)
		} else {
			_, err = fmt.Fprintf(inv.Stdout, "%s: WACZ files %d, signed %d, files in them %d, bytes %d, records %d, "+
				"index lines %d, errors %d\n", name, r.Packages, r.Signed, r.Files, r.Bytes, r.Records, r.Lines, r.Faults)
		}
		if err != nil {
			return err
		}
	}
	if faults > 0 {
		return fmt.Errorf("%w: %d", warctool.ErrFaults, faults)
	}
	return nil
}

type warcIndexCmd struct {
	Write   bool     `help:"Write FILE.cdxj beside each file instead of printing; one FILE.wacz.cdxj for all in a WACZ." xor:"form"`
	Cluster string   `help:"Write one index of all files into this directory: a ZipNum cluster, as pywb and Common Crawl have it." placeholder:"DIR" xor:"form"`
	Files   []string `arg:"" help:"WARC, ARC or WACZ files, or directories of them; - is standard input." name:"file"`
}

// Help shows examples.
func (*warcIndexCmd) Help() string {
	return `A cluster has cluster.idx, and sorted blocks of 3,000 lines in cdx-00000.gz and so on. 'warc get', 'view'
and /cdx read it for the WARC files beside it that have no index of their own.

Examples:
  orbweaver warc index crawl/warc/*.warc.gz >all.cdxj
  orbweaver warc index --write FILE
  orbweaver warc index --cluster crawl/warc crawl`
}

// Run indexes.
func (x *warcIndexCmd) Run(inv *command.Invocation, c *Command) error {
	if x.Write && slices.Contains(x.Files, warc.Stdin) {
		return command.Misuse(warc.ErrStdinInput)
	}
	if x.Cluster == "" {
		return c.each(inv, x.Files, func(t *warctool.Tool, files ...string) error { return t.Index(x.Write, files...) })
	}
	t := c.tool(inv)
	files, err := closedFiles(inv, t.FS, x.Files)
	if err != nil {
		return err
	}
	r, err := t.WriteCluster(x.Cluster, files...)
	if err != nil && !errors.Is(err, warctool.ErrFaults) {
		return err
	}
	if c.JSON {
		return cmp.Or(json.NewEncoder(inv.Stdout).Encode(map[string]int64{
			"lines": int64(r.Lines), "blocks": int64(r.Blocks), "parts": int64(r.Parts), "bytes": r.Bytes,
		}), err)
	}
	_, failed := fmt.Fprintf(inv.Stdout, "lines %d, blocks %d, parts %d, bytes %d\n", r.Lines, r.Blocks, r.Parts, r.Bytes)
	return cmp.Or(failed, err)
}

// closedFiles returns the names of WARC files. A directory stands for the closed ones in it.
func closedFiles(inv *command.Invocation, disk vfs.FS, names []string) ([]string, error) {
	if slices.Contains(names, warc.Stdin) {
		return nil, command.Misuse(warc.ErrStdinInput)
	}
	files, err := find(inv, disk, names)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		return strings.HasSuffix(name, ".open") && !slices.Contains(names, name)
	})
	if len(files) == 0 {
		return nil, errors.New("no closed WARC file there")
	}
	return files, nil
}

type warcTrainCmd struct {
	Out   string   `help:"File for the dictionary." required:"" placeholder:"FILE"`
	Size  int      `type:"size" help:"Size of the dictionary, at most." default:"64Ki" placeholder:"SIZE" least:"1024" most:"1048576"`
	Files []string `arg:"" help:"WARC, ARC or WACZ files, or directories of them; - is standard input." name:"file"`
}

// Help shows an example.
func (*warcTrainCmd) Help() string {
	return "Some hundreds of records are needed, and the first 32 MB are looked at.\n\nExample:\n" +
		"  orbweaver warc train --out words.zdict crawl/warc/*.warc.gz\n" +
		"  orbweaver crawl --warc-compression zstd --warc-dictionary words.zdict --dir next --seeds FILE"
}

// Run trains.
func (x *warcTrainCmd) Run(inv *command.Invocation, c *Command) error {
	return c.each(inv, x.Files, func(t *warctool.Tool, files ...string) error { return t.Train(x.Out, x.Size, files...) })
}

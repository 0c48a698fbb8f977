package archive

import (
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/waczfs"
	"orbweaver/warc/warctool"
)

// WACZCommand packs an archive into a WACZ file.
type WACZCommand struct {
	Out       string `help:"The file to write." required:"" short:"o" placeholder:"FILE"`
	Split     int64  `type:"size" help:"Bytes of WARC files in one WACZ. With it the files are NAME-0001.wacz and so on, and NAME.json lists them." default:"0" zero:"meant" placeholder:"SIZE"`
	Originals string `help:"With --split, what happens to records that revisits of another WACZ refer to: copy gives each WACZ its own; name lists the WACZ files that have them in datapackage.json, which needs less space." enum:"copy,name" default:"copy"`
	SignKey   string `help:"PEM file of a key of P-384, for an anonymous signature." placeholder:"FILE"`
	Title     string `help:"Title of the collection; the default is the name of the file." placeholder:"TEXT"`
	MainPage  string `help:"URL of the page that is shown first; the default is the seed of a crawl that has a single one." placeholder:"URL"`

	FromStore bool `help:"Also read WARC files that were removed here (--upload-then delete) from their object store, each once and whole. The store may charge for it."`

	Files []string `arg:"" exists:"file or directory" help:"WARC files, complete ones: .warc or .warc.gz; or directories of them." name:"file"`
}

// Help shows examples.
func (*WACZCommand) Help() string {
	return `The file has the WARC files unchanged, a merged index, and a list of the pages with their titles (WACZ 1.1.1).
The indexes beside the WARC files are used; a file without one is indexed, in temporary files if its lines are
many (TMPDIR). Each WARC file is read once, and compared with the manifest beside it. 'orbweaver warc verify' checks
the result. Files that cannot be packed are named, and the exit status is 1. Nothing is written if a file was removed
here (--upload-then delete), unless --from-store is given.
With --split, each file can be replayed without the others: it gets copies of the records of other files that its
revisits refer to. --originals name leaves them where they are. Name all files of a crawl, since those that are not
named cannot be searched.

Examples:
  orbweaver wacz crawl -o site.wacz
  orbweaver warc wacz --out site.wacz --main-page https://example.org/ crawl/warc/*.warc.gz
  orbweaver warc wacz --out site.wacz --split 4GB crawl
  orbweaver wacz --from-store crawl -o site.wacz
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key.pem
  orbweaver warc wacz --out site.wacz --sign-key key.pem crawl`
}

// Run packs.
func (x *WACZCommand) Run(inv *command.Invocation, c *Command) error { return x.pack(inv, c.JSON) }

// PackCommand is the command wacz: that of warc, with --json of its own.
type PackCommand struct {
	WACZCommand `embed:""`
	JSON        bool `help:"Print one JSON object for each WACZ file."`
}

// Run packs.
func (x *PackCommand) Run(inv *command.Invocation) error { return x.pack(inv, x.JSON) }

// packMemory is the memory from which garbage is collected sooner while a WACZ is packed, in bytes.
const packMemory = 192 << 20

func (x *WACZCommand) pack(inv *command.Invocation, asJSON bool) error {
	if before := debug.SetMemoryLimit(-1); before > packMemory {
		debug.SetMemoryLimit(packMemory)
		defer debug.SetMemoryLimit(before)
	}
	title := x.Title
	if title == "" {
		title = strings.TrimSuffix(filepath.Base(x.Out), ".wacz")
	}
	var key *ecdsa.PrivateKey
	if x.SignKey != "" {
		text, err := vfs.ReadFile(vfs.Disk(), x.SignKey)
		if err == nil {
			key, err = warctool.ReadWACZKey(text)
		}
		if err != nil {
			return command.Misuse(fmt.Errorf("--sign-key: %w", err))
		}
	}
	disk := receivers.Disk()
	files, err := closedFiles(inv, disk, x.Files)
	if err != nil {
		return err
	}
	damaged := 0
	onDamage := func(f *warc.Fault) {
		if damaged++; damaged <= damagedSaid {
			fmt.Fprintln(inv.Stderr, f)
		}
	}
	named := len(files)
	files = warctool.Packable(disk, files, onDamage)
	leftOut := named - len(files)
	if len(files) == 0 {
		return fmt.Errorf("%w: none of them can be packed", warctool.ErrFaults)
	}
	objects := receivers.NewObjects(inv.Context, inv.Version)
	defer objects.Close()
	if away := disk.FindAway(files); away.Files > 0 {
		if !x.FromStore {
			return fmt.Errorf("%s (%s) %s removed here, and a WACZ needs all: --from-store reads them from the object store; "+
				"the first: %w", plural.Count(away.Files, "WARC file"), plural.Bytes(away.Bytes),
				plural.Verb(away.Files, "was", "were"), away.First)
		}
		fmt.Fprintf(inv.Stderr, "reading %s (%s) from the object store; the first: %s\n",
			plural.Count(away.Files, "WARC file"), plural.Bytes(away.Bytes), away.First.Place())
		disk.ReadFiles(objects).ReadRecords(objects)
	}
	scanner := parse.NewScanner(parse.Options{})
	err = warctool.PackWACZ(disk, x.Out, warctool.WACZOptions{
		Title: title, MainPage: x.MainPage, Seeds: seedsOf(x.Files), Software: "orbweaver/" + inv.Version, Now: time.Now(),
		SignKey: key, SizeMost: x.Split, NameOriginals: x.Originals == "name",
		OnPacked: func(p warctool.WACZPacked) {
			if asJSON {
				_ = json.NewEncoder(inv.Stdout).Encode(p) // the file is written, even if this is not read
				return
			}
			reportPacked(inv.Stderr, p)
		},
		OnDamage: onDamage,
		TitleOf: func(body, contentType []byte) string {
			r, err := scanner.Scan(body, contentType)
			if err != nil {
				return ""
			}
			return string(r.Title)
		},
	}, files...)
	if err == nil && damaged > 0 {
		err = fmt.Errorf("%w: %s left out, %s in no index; 'orbweaver warc verify' names all faults", warctool.ErrFaults,
			plural.Count(leftOut, "file"), plural.Count(damaged-leftOut, "record"))
	}
	return err
}

// damagedSaid is how many damaged records are said.
const damagedSaid = 20

// seedsMost is how many seeds of a crawl are marked in the list of pages.
const seedsMost = 10_000

// seedsOf returns the seeds of crawl directories, or where they redirect to. The latter is in the reports of a crawl
// that has ended; without reports the seeds are those that the crawl has kept.
func seedsOf(dirs []string) (seeds []string) {
	for _, dir := range dirs {
		text, err := vfs.ReadFile(vfs.Disk(), filepath.Join(dir, "reports", "seeds.tsv"))
		if err != nil {
			seeds = append(seeds, keptSeeds(dir, seedsMost-len(seeds))...)
			continue
		}
		for line := range strings.Lines(string(text)) {
			columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(columns) < 4 || len(seeds) == seedsMost || columns[0] == "seed" {
				continue
			}
			seed := columns[0]
			if columns[3] != "-" {
				seed = columns[3]
			}
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// keptSeeds returns the first seeds of a crawl that runs, or was stopped or killed.
func keptSeeds(dir string, most int) (seeds []string) {
	file, err := vfs.Disk().Open(filepath.Join(dir, layout.SeedsFile))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // opened for reading
	for lines := cdxj.ReadLines(file, cdxj.LineMax); len(seeds) < most; {
		line, err := lines.Next()
		if err == nil {
			seeds = append(seeds, strings.TrimRight(string(line), "\r\n"))
		} else if !errors.Is(err, cdxj.ErrLine) {
			break
		}
	}
	return seeds
}

// pagesOf returns the seeds and the titles that the lists of pages of WACZ files have.
func pagesOf(disk vfs.FS, name string) (seeds []string, titles map[string]string) {
	titles = map[string]string{}
	pages, _ := waczfs.Pages(disk, filepath.ToSlash(name)) // what is wrong with the file is said where it is read
	for _, p := range pages {
		if p.Seed {
			seeds = append(seeds, p.URL)
		}
		if p.Title != "" {
			titles[p.URL] = p.Title
		}
	}
	return seeds, titles
}

// reportPacked says what a WACZ file holds.
func reportPacked(out io.Writer, p warctool.WACZPacked) {
	fmt.Fprintf(out, "%s: %s, %s, %s\n", p.Name, plural.Bytes(p.Bytes), plural.Count(p.Files, "WARC file"),
		plural.Count(p.Pages, "page"))
	if len(p.Requires) > 0 {
		fmt.Fprintf(out, "%s: its revisits refer to %s of %s, without which it cannot be replayed\n", p.Name,
			plural.Count(p.Originals, "record"), strings.Join(p.Requires, ", "))
	} else if p.Originals > 0 {
		fmt.Fprintf(out, "%s: with %s of other files that its revisits refer to, %s\n", p.Name,
			plural.Count(p.Originals, "record"),
			plural.Bytes(p.OriginalsBytes))
	}
	if p.OriginalsMissing > 0 {
		fmt.Fprintf(out, "%s: %s %s to records that are in none of these files, and cannot be replayed: "+
			"name all files of the crawl, and those of the crawls that it refers to\n", p.Name,
			plural.Count(p.OriginalsMissing, "revisit"), plural.Verb(p.OriginalsMissing, "refers", "refer"))
	}
}

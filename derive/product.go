package derive

import (
	"context"
	"io"
)

// Product is one kind of output. Its methods may be called by several workers at once.
type Product interface {
	// Name is a word that stands for the product in messages and in the names of markers.
	Name() string
	// Settings has all that outputs depend on besides the input: a form number and the options. With other settings,
	// outputs are made again.
	Settings() string
	// Needs is what the product reads of records.
	Needs() Needs
	// Open begins the outputs of one file.
	Open(source Source, outputs *Outputs) (FileWriter, error)
	// Finish is called when the outputs of all files are complete, unless its own outputs are too. It may combine them.
	Finish(ctx context.Context, files []Finished, outputs *Outputs) error
}

// Needs are the parts of records that a product reads, besides headers and the heads of HTTP messages.
type Needs struct {
	// Bodies: whole blocks, up to Options.BlockMax.
	Bodies bool
	// Text: the text of pages in Record.Page.
	Text bool
	// Details: texts of links and meta elements in Record.Page.
	Details bool
}

// FileWriter writes the outputs of one file.
type FileWriter interface {
	// Add takes the next record, and borrows it until it returns. A *warc.Fault means that the record cannot be used;
	// any other error ends the Run.
	Add(record *Record) error
	// Close completes the outputs. It is not called after an error.
	Close() error
	// Abandon frees what the outputs use. It may follow an error of Add or Close.
	Abandon()
}

// Source is an input file.
type Source struct {
	// Path of the file, and its name without directory and suffix.
	Path, Stem string
	// File is the name in indexes.
	File string
	// Crawl is the name of the crawl: see Options.Crawl.
	Crawl string
	// Size in bytes.
	Size int64
}

// Finished is a file whose outputs are complete.
type Finished struct {
	Source
	// Outputs are the names of the product's files, relative to Options.Dir.
	Outputs []string
}

// counted counts the bytes that are written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

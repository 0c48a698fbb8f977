package minhash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
)

// Member is a page of a cluster of two or more.
type Member struct {
	// Cluster is the number of the first page of the cluster, among all pages of the run, from 0.
	Cluster uint32 `json:"cluster"`
	// Size is the number of pages of the cluster.
	Size uint32 `json:"size"`
	// First page of the cluster, in the order of the files: the one to keep.
	First    bool   `json:"first"`
	ID       string `json:"id"`
	URL      string `json:"url"`
	Date     string `json:"date"`
	FilePath string `json:"file_path"`
}

// clusters finds connected components of pages that share a bucket.
type clusters struct {
	fsys  vfs.FS
	names []string // of the files of rows
	step  func(string)
	first []uint32 // of each page: an earlier page of its cluster, or itself
}

// checkEvery is how many steps are made between two looks at the context.
const checkEvery = 1 << 16

// join reads all buckets, sorts them, and joins pages that share one.
func (c *clusters) join(ctx context.Context, file string, memory int) (err error) {
	sorter, err := extsort.New(c.fsys, extsort.Options{File: file, MemoryBytes: memory})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	err = c.eachRow(ctx, "signatures", func(page uint32, row *Row) error {
		c.first = append(c.first, page)
		for i, text := range row.Buckets {
			hash, err := strconv.ParseUint(text, 16, 64)
			if err != nil {
				return err
			}
			if err := sorter.Add(extsort.Entry{Hi: hash, Lo: uint64(i), Tag: uint64(page)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.step("the clusters of near-duplicates: sorting buckets")
	var before extsort.Entry
	n := 0
	for e, err := range sorter.Sorted() {
		if err != nil {
			return err
		}
		if n > 0 && e.Hi == before.Hi && e.Lo == before.Lo {
			c.union(uint32(before.Tag), uint32(e.Tag))
		}
		before = e
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// find returns the first page of a cluster, and shortens the way to it.
func (c *clusters) find(page uint32) uint32 {
	for c.first[page] != page {
		c.first[page] = c.first[c.first[page]]
		page = c.first[page]
	}
	return page
}

func (c *clusters) union(a, b uint32) {
	a, b = c.find(a), c.find(b)
	c.first[max(a, b)] = min(a, b)
}

// write writes the pages of clusters of two or more, in the order of the files.
func (c *clusters) write(ctx context.Context, out io.Writer) error {
	sizes := make([]uint32, len(c.first))
	for page := range c.first {
		sizes[c.find(uint32(page))]++
	}
	z := gzip.NewWriter(out)
	lines := newEncoder(z)
	err := c.eachRow(ctx, "clusters", func(page uint32, row *Row) error {
		if int(page) >= len(c.first) {
			return errors.New("more pages than before")
		}
		first := c.find(page)
		if sizes[first] < 2 {
			return nil
		}
		return lines.Encode(&Member{
			Cluster: first, Size: sizes[first], First: first == page, ID: row.ID, URL: row.URL, Date: row.Date,
			FilePath: row.FilePath,
		})
	})
	if err != nil {
		return err
	}
	return z.Close()
}

// eachRow calls f with all rows of all files. The number of a page is its position.
func (c *clusters) eachRow(ctx context.Context, what string, f func(page uint32, row *Row) error) error {
	page := uint32(0)
	for i, name := range c.names {
		c.step(fmt.Sprintf("the clusters of near-duplicates: %s of file %d of %d", what, i+1, len(c.names)))
		if err := c.eachRowOf(ctx, name, &page, f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *clusters) eachRowOf(ctx context.Context, name string, page *uint32, f func(uint32, *Row) error) (err error) {
	file, err := c.fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := gzip.NewReader(bufio.NewReaderSize(file, 64<<10))
	if err != nil {
		return err
	}
	rows := json.NewDecoder(z)
	for {
		var row Row
		switch err := rows.Decode(&row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case *page == math.MaxUint32:
			return errors.New("more than 2^32-1 pages: derive them in parts")
		}
		if err := f(*page, &row); err != nil {
			return err
		}
		*page++
	}
}

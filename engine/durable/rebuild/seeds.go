package rebuild

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// KeepSeeds writes the seeds of the new frontier: those given now, and what is left of those in the old frontier, which
// is in aside. It takes over the host rules of the operator, too.
func KeepSeeds(p *Parts, given admission.SeedSource, scope string, out *Result) error {
	front := p.Dir + "/" + layout.FrontierDir
	left := &seedsLeft{fs: p.FS, name: p.Dir + "/" + out.Aside + "/seeds"}
	sources := seedChain{given}
	if out.Aside != "" {
		sources = append(sources, left, &seedsLeft{fs: p.FS, name: p.Dir + "/" + out.Aside + "/seeds-added"})
	}
	kept, err := admission.KeepSeeds(p.FS, front, sources, admission.Offered{IsClean: true}, p.Log)
	if err != nil {
		return err
	}
	out.Seeds = kept.Offer
	if out.Aside != "" {
		if err := keepHostRules(p.FS, p.Dir+"/"+out.Aside, front); err != nil {
			out.note("the rules that ctl gave for single hosts are lost: %v", err)
		}
	}
	if left.bad > 0 {
		out.note("%d lines of the old seeds are no URLs any more and were left out", left.bad)
	}
	switch {
	case kept.Offer > 0:
	case slices.Contains([]string{"host", "domain", "prefix"}, scope):
		return fmt.Errorf("%w: --scope %s", ErrSeedsLost, scope)
	default:
		out.note("no seeds are known any more: seeds that were never fetched are forgotten unless they are given again")
	}
	return nil
}

// keepHostRules copies the rules that the operator gave while the crawl ran.
func keepHostRules(fsys vfs.FS, from, to string) error {
	_, live, err := settings.ReadHostRules(fsys, from)
	if err != nil || live.Len() == 0 {
		return err
	}
	return settings.WriteHostRules(fsys, to, live)
}

// seedChain is an admission.SeedSource of several; nil ones have no seeds.
type seedChain []admission.SeedSource

// Each implements admission.SeedSource.
func (c seedChain) Each(f func(where string, url []byte) error) error {
	for _, s := range c {
		if s == nil {
			continue
		}
		if err := s.Each(f); err != nil {
			return err
		}
	}
	return nil
}

// seedsLeft are the seeds of an old frontier that are still URLs in normal form: their file has no checksum.
type seedsLeft struct {
	fs   vfs.FS
	name string
	bad  int
}

// Each implements admission.SeedSource.
func (s *seedsLeft) Each(f func(where string, url []byte) error) error {
	file, err := s.fs.Open(s.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, urlx.LengthMax+2)
	var url []byte
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
			line = nil
		}
		if text := bytes.TrimSuffix(line, []byte("\n")); err == nil || len(text) > 0 {
			if url, nerr := urlx.Normalize(url[:0], text); nerr != nil || !bytes.Equal(url, text) {
				s.bad++
			} else if ferr := f(fmt.Sprintf("%s:%d", strings.TrimPrefix(s.name, "./"), n), text); ferr != nil {
				return ferr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

package logreport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/urlx"
)

// seedQueued is the outcome of a seed without a final line.
const seedQueued = "queued"

// seedsMost is how many seeds are in memory at a time: some 120 MB. The log is read once for each part.
const seedsMost = 1 << 18

// seed is what the log says of a seed.
type seed struct {
	outcome  string
	status   int
	location string
	time     string
}

// eachRow calls f with the row of each seed, in the order of the list.
func (r *Reports) eachRow(ctx context.Context, f func(row []string) error) error {
	return r.eachSeed(ctx, func(url string, s *seed) error {
		return f([]string{url, s.outcome, strconv.Itoa(s.status), orDash(s.location), orDash(s.time)})
	})
}

// eachSeed calls f with each seed, in the order of the list. f borrows the seed.
func (r *Reports) eachSeed(ctx context.Context, f func(url string, s *seed) error) error {
	file, err := r.fsys.Open(r.dir + "/" + layout.SeedsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("logreport: seeds: %w", err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(nil, urlx.LengthMax+2)
	for {
		urls := make([]string, 0, 1024)
		for len(urls) < seedsMost && in.Scan() {
			urls = append(urls, in.Text())
		}
		if err := in.Err(); err != nil {
			return fmt.Errorf("logreport: seeds: %w", err)
		}
		if len(urls) == 0 {
			return nil
		}
		if err := r.eachOf(ctx, urls, f); err != nil {
			return err
		}
	}
}

// eachOf calls f with some seeds.
func (r *Reports) eachOf(ctx context.Context, urls []string, f func(url string, s *seed) error) error {
	index, list := make(map[xxh3.Uint128]int, len(urls)), make([]seed, len(urls))
	for {
		for i, url := range urls {
			index[xxh3.HashString128(url)] = i // the same seed twice has one entry: the last
			list[i] = seed{outcome: seedQueued}
		}
		_, err := crawllog.Read(ctx, r.fsys, r.dir+"/"+layout.LogsDir, r.o.From, func(l *crawllog.Line) error {
			if i, ok := index[xxh3.Hash128(l.URL)]; ok {
				list[i].note(l)
			}
			return nil
		})
		if err == nil {
			break
		}
		if !errors.Is(err, crawllog.ErrRotated) {
			return err
		}
	}
	for _, url := range urls {
		if err := f(url, &list[index[xxh3.HashString128(url)]]); err != nil {
			return err
		}
	}
	return nil
}

// orDash is "-" for no text, so that each row has all columns.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// note takes a line of the seed. The last final line counts; until there is one, the status of the last attempt.
func (s *seed) note(l *crawllog.Line) {
	switch {
	case l.IsFinal(), l.IsNotAdmitted():
		s.outcome = string(l.Outcome)
	case l.IsRequeued():
		s.outcome = seedQueued
	case l.IsPrerequisite(), l.IsProof(), s.outcome != seedQueued:
		return
	}
	s.status, s.location, s.time = l.Status, string(l.Location()), string(l.Time)
}

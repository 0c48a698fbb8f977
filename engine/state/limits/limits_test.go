package limits

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// While sent files can make room, the crawl waits at the limit of the disk, and goes on when they are removed. If no
// file can make room, it ends.
func TestMaxDisk_waitsWhileFilesCanMakeRoom(t *testing.T) {
	var ended []string
	var text bytes.Buffer
	log, fsys := slog.New(slog.NewTextHandler(&text, nil)), vfs.NewMem(1)
	space, gate := &fakeSpace{freeing: 600}, &fakeGate{}
	l := New(&Options{MaxDisk: 1000}, 0, func(reason string) { ended = append(ended, reason) })
	l.SetSpace(space, gate)
	l.Begin(900, fsys, "crawl", log)
	l.Grown(200)
	l.Measure(fsys, "crawl", log)
	if !gate.isShut || len(ended) > 0 || l.Reached(0, 1100, 0) != "" {
		t.Fatalf("at the limit: shut %v, ended %v", gate.isShut, ended)
	}
	l.Grown(50) // a page that was on its way
	space.freeing, space.removed = 300, 300
	l.Measure(fsys, "crawl", log)
	if reason := l.Reached(0, 1150, 0); gate.isShut || reason != "" {
		t.Fatalf("with room: shut %v, reason %q", gate.isShut, reason)
	}
	l.Measure(fsys, "crawl", log)
	l.Grown(200)
	if !gate.isShut {
		t.Error("at the limit again: not shut")
	}
	space.freeing = 0
	if reason := l.Reached(0, 1350, 0); gate.isShut || reason != lifecycle.ReasonMaxDisk {
		t.Errorf("no file can make room: shut %v, reason %q", gate.isShut, reason)
	}
	said := text.String()
	if strings.Count(said, "max-disk is reached") != 1 || strings.Count(said, "the crawl goes on") != 1 {
		t.Errorf("the log:\n%s", &text)
	}
}

// Without such files the crawl ends at the limit.
func TestMaxDisk_endsTheCrawl(t *testing.T) {
	var ended []string
	l := New(&Options{MaxDisk: 1000}, 0, func(reason string) { ended = append(ended, reason) })
	l.Grown(999)
	l.Grown(1)
	if !slices.Equal(ended, []string{lifecycle.ReasonMaxDisk}) {
		t.Errorf("ended %v", ended)
	}
}

type fakeSpace struct{ removed, freeing int64 }

func (s *fakeSpace) Removed() int64 { return s.removed }
func (s *fakeSpace) Freeing() int64 { return s.freeing }

type fakeGate struct{ isShut bool }

func (g *fakeGate) Shut(string) bool { g.isShut = true; return true }
func (g *fakeGate) Open(string) bool { g.isShut = false; return true }

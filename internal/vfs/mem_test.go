package vfs

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

func put(t *testing.T, fsys FS, name, content string, sync bool) {
	t.Helper()
	f, err := fsys.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, content); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestKillCloneKeepsWritesAndForgetsLocks(t *testing.T) {
	m := NewMem(1)
	put(t, m, "a", "written, not synced", false)
	if _, err := m.Lock("lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Lock("lock"); !errors.Is(err, ErrLocked) {
		t.Fatalf("second lock: %v", err)
	}
	c := m.KillClone()
	put(t, m, "a", "later", false)
	got, err := ReadFile(c, "a")
	if err != nil || string(got) != "written, not synced" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := c.Lock("lock"); err != nil {
		t.Fatalf("lock after the kill: %v", err)
	}
}

// A power failure keeps what was synced under a synced name, and over many attempts every kind of loss occurs.
func TestCrashClone(t *testing.T) {
	m := NewMem(7)
	put(t, m, "safe", "synced content", true)
	put(t, m, "renamed.tmp", "new", true)
	put(t, m, "renamed", "old", true)
	if err := m.SyncDir("."); err != nil {
		t.Fatal(err)
	}
	put(t, m, "nameless", "synced, but its name was not", true)
	if err := m.Rename("renamed.tmp", "renamed"); err != nil {
		t.Fatal(err)
	}
	f, err := m.OpenRW("safe")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 3*pageSize), 100); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := m.CrashClone(rng)
		safe, err := ReadFile(c, "safe")
		if err != nil || string(safe[:14]) != "synced content" {
			t.Fatalf("synced bytes lost: %q, %v", safe, err)
		}
		seen[fmt.Sprintf("length %v", len(safe) > 14)]++
		name, err := ReadFile(c, "nameless")
		seen[fmt.Sprintf("name %v", err == nil)]++
		if err == nil && string(name) != "synced, but its name was not" {
			t.Fatalf("synced content lost: %q", name)
		}
		renamed, err := ReadFile(c, "renamed")
		if err != nil {
			t.Fatalf("a rename over a name lost the name: %v", err)
		}
		seen["renamed "+string(renamed)]++
	}
	for _, want := range []string{"length true", "length false", "name true", "name false", "renamed old", "renamed new"} {
		if seen[want] == 0 {
			t.Errorf("200 crashes never showed %q: %v", want, seen)
		}
	}
}

func TestCrashCloneOfAMappingNeedsSync(t *testing.T) {
	m := NewMem(3)
	f, err := m.Create("m")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Allocate(0, 2*pageSize), f.Sync(), m.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	mapped, err := f.Map(2 * pageSize)
	if err != nil {
		t.Fatal(err)
	}
	mapped.Bytes()[0] = 1
	if err := mapped.Sync(); err != nil {
		t.Fatal(err)
	}
	mapped.Bytes()[pageSize] = 2
	lost := 0
	for range 50 {
		got, err := ReadFile(m.CrashClone(nil), "m")
		if err != nil || got[0] != 1 {
			t.Fatalf("synced byte lost: %v", err)
		}
		if got[pageSize] == 0 {
			lost++
		}
	}
	if lost == 0 || lost == 50 {
		t.Fatalf("the unsynced byte was lost %d times in 50", lost)
	}
}

func TestFullDisk(t *testing.T) {
	m := NewMem(1)
	m.SetLimit(10)
	f, err := m.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.WriteString(f, "0123456789abc")
	if n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if err := f.Allocate(0, 11); !errors.Is(err, syscall.ENOSPC) || !IsFull(err) {
		t.Fatalf("allocate: %v", err)
	}
	if free, err := m.Free("."); free != 0 || err != nil {
		t.Fatalf("free %d, %v", free, err)
	}
	if err := m.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if used := m.Used(); used != 10 {
		t.Fatalf("an open file without a name counts: used %d", used)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if used := m.Used(); used != 0 {
		t.Fatalf("used %d", used)
	}
	put(t, m, "b", "0123456789", true)
	m.SetLimit(-1)
	put(t, m, "c", "0123456789", true)
}

// After a failed sync the system shows bytes that are not on the disk, and a second sync succeeds.
func TestForget(t *testing.T) {
	m := NewMem(1)
	f, err := m.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	content := func(fsys FS) string {
		t.Helper()
		b, err := ReadFile(fsys, "f")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	write := func(text string, at int64) {
		t.Helper()
		if _, err := f.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
	}
	write("kept", 0)
	if err := errors.Join(f.Sync(), m.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	write("lost"+strings.Repeat(".", pageSize-4), pageSize) // a whole page: one that is written on is dirty again
	m.Forget("f")
	write("kept", 2*pageSize)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	now, later := content(m), content(m.CrashClone(nil))
	if now[pageSize:pageSize+4] != "lost" || later[pageSize:pageSize+4] != "\x00\x00\x00\x00" {
		t.Errorf("%q is readable, %q is on the disk", now[pageSize:pageSize+4], later[pageSize:pageSize+4])
	}
	for _, s := range []string{now, later} {
		if s[:4] != "kept" || s[2*pageSize:] != "kept" {
			t.Errorf("%q and %q", s[:4], s[2*pageSize:])
		}
	}
}

package main

import (
	"slices"
	"strings"
	"sync"
)

// asked is what a web server remembers: the paths that it was asked for.
type asked struct {
	mu    sync.Mutex
	paths []string
}

func (a *asked) note(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths = append(a.paths, path)
}

// take gives what was asked for since the last call, in order of the alphabet.
func (a *asked) take() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.paths)
	all := strings.Join(a.paths, " ")
	a.paths = nil
	return all
}

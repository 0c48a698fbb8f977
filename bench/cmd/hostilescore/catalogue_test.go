package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orbweaver/bench/hostile"
)

// Every case has a test that proves it, or held.go says why not; so no case gets lost between two runs of the whole
// score.
func TestCatalogue_everyCaseIsProvenOrOpen(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^(?:func Test|story )((?:Hostile|G[0-9]{2})_\w+)`)
	proven := map[string]bool{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") && filepath.Base(filepath.Dir(path)) != "testdata" {
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			for _, id := range casesOf("Test" + m[1]) {
				proven[id] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range hostile.Catalogue {
		if !proven[e.ID] && open[e.ID] == "" {
			t.Errorf("%s has no test, and held.go does not say why", e.ID)
		}
		delete(proven, e.ID)
	}
	for id := range proven {
		t.Errorf("%s is proven and stands in no catalogue", id)
	}
	for id := range hostile.Cases() {
		if !strings.Contains(catalogued(), " "+id+" ") {
			t.Errorf("%s is played and stands in no catalogue", id)
		}
	}
}

func catalogued() string {
	var ids strings.Builder
	for _, e := range hostile.Catalogue {
		ids.WriteString(" " + e.ID + " ")
	}
	return ids.String()
}

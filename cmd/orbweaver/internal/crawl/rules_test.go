package crawl

import (
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/page/filter"
)

func TestRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.txt")
	write(t, file, "# away\nexample.org\n.example.com # and below\n10.0.0.0/8\n\n")
	rules, list, err := readList([]string{file}, filter.CompileHosts)
	if err != nil || list.Len() != 3 || rules.Texts[1] != ".example.com" || rules.Where(1) != file+":3" {
		t.Errorf("%v, %v", rules, err)
	}
	write(t, file, "good.example\nnot a host\n10.0.0.0/99\n")
	if _, _, err = readList([]string{file}, filter.CompileHosts); err == nil {
		t.Fatal("two bad rules are taken")
	}
	for _, place := range []string{"rules.txt:2:", "rules.txt:3:"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("%v: %s is missing", err, place)
		}
	}
}

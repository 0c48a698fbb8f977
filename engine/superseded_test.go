package engine

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"orbweaver/engine/cluster/ownership"
	"orbweaver/internal/vfs"
)

// Who comes before an agent for a host is who would have it if those before were not there, down to the agent itself.
func TestCircle_aheadIsWhoWouldHaveIt(t *testing.T) {
	var all []ownership.Agent
	for i := range 5 {
		all = append(all, ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1 + i%2, Store: uint64(i + 1)})
	}
	made := map[string]*ownership.View{}
	of := func(peers []ownership.Agent, self string) *ownership.View {
		t.Helper()
		name := fmt.Sprint(self, peers)
		if made[name] == nil {
			c, err := ownership.NewView(peers, nil, 0, self)
			if err != nil {
				t.Fatal(err)
			}
			made[name] = c
		}
		return made[name]
	}
	own := 0
	for n := range 300 {
		url := fmt.Appendf(nil, "http://h%d.test/a", n)
		left, order := slices.Clone(all), []string{}
		for len(left) > 0 {
			c := of(left, left[0].ID)
			first := c.Agents[c.OwnerOf(url)].ID
			order = append(order, first)
			left = slices.DeleteFunc(slices.Clone(left), func(p ownership.Agent) bool { return p.ID == first })
		}
		for _, self := range all {
			c := of(all, self.ID)
			for most := range 6 {
				var got []string
				for _, k := range c.Predecessors(url, most) {
					got = append(got, c.Agents[k].ID)
				}
				want := order[:slices.Index(order, self.ID)]
				if want = want[:min(most, len(want))]; !slices.Equal(got, want) {
					t.Fatalf("%s: before %s there are %v, want %v of %v", url, self.ID, got, want, order)
				}
				if len(want) == 0 && most > 0 {
					own++
				}
			}
		}
	}
	if own != 300*5 { // each has one owner, whatever most is
		t.Errorf("%d times nobody came before", own)
	}
}

// Lines are added once, what was there stays, half a line does not, and until the end the old file is there.
func TestMarkFiles(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("c/" + SupersededDir); err != nil {
		t.Fatal(err)
	}
	const name = "c/" + SupersededDir + "/a2.cdxj"
	if err := vfs.WriteAtomic(fsys, name,
		func(w io.Writer) error { _, err := io.WriteString(w, "old\nhal"); return err }); err != nil {
		t.Fatal(err)
	}
	content := func(name string) string {
		t.Helper()
		b, err := vfs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	m := markFiles{fs: fsys, crawl: "c"}
	fresh := 0
	for _, line := range []string{"new\n", "old\n", "new\n", "half\n"} {
		is, err := m.add("a2", []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if is {
			fresh++
		}
	}
	if _, err := m.add("a3", []byte("other\n")); err != nil {
		t.Fatal(err)
	}
	if got := content(name); got != "old\nhal" {
		t.Errorf("before the end: %q", got)
	}
	if err := m.finish(); err != nil {
		t.Fatal(err)
	}
	if got, other := content(name), content("c/"+SupersededDir+"/a3.cdxj"); got != "old\nnew\nhalf\n" ||
		other != "other\n" || fresh != 2 {
		t.Errorf("%q and %q, %d fresh", got, other, fresh)
	}
	after := fsys.LostClone(0) // all of it is durable
	if b, err := vfs.ReadFile(after, name); err != nil || string(b) != "old\nnew\nhalf\n" {
		t.Errorf("after a power cut: %q, %v", b, err)
	}
	if _, err := m.add("a2", []byte("more\n")); err != nil {
		t.Fatal(err)
	}
	if err := m.abandon(); err != nil {
		t.Fatal(err)
	}
	if names, err := fsys.List("c/" + SupersededDir); err != nil || len(names) != 2 ||
		content(name) != "old\nnew\nhalf\n" {
		t.Errorf("after giving up: %v, %v", names, err)
	}
}

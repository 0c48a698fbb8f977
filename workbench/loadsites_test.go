package workbench

import (
	"bytes"
	"io"
	"reflect"
	"slices"
)

// loadSites compares LoadSites of up to three sites with the whole workbench.
func (d *driver) loadSites(whole *Workbench[int]) {
	keys := [][]byte{[]byte("http://unknown")}
	for range d.rng.IntN(4) {
		if s := d.saved.pick(d.rng, anySite); s != nil {
			keys = append(keys, []byte(s.key))
		}
	}
	part, err := LoadSites(d.w.opts, keys, readInt, seekers(d.images)...)
	if err != nil {
		d.t.Fatal(err)
	}
	if part.Get(keys[0]) != nil {
		d.t.Fatal("an unknown site was loaded")
	}
	for _, key := range keys[1:] {
		view := func(w *Workbench[int]) (v View[int], items []string) {
			vs := w.Get(key)
			if vs == nil {
				d.t.Fatalf("site %s is missing", key)
			}
			w.Site(vs).Items(1<<30, func(item []byte, _ bool) { items = append(items, string(item)) })
			return w.Site(vs).View(), items
		}
		got, gotItems := view(part)
		want, wantItems := view(whole)
		if !reflect.DeepEqual(got, want) || !slices.Equal(gotItems, wantItems) {
			d.t.Fatalf("site %s alone: %+v %q\nof the whole workbench: %+v %q", key, got, gotItems, want, wantItems)
		}
	}
}

func seekers(images [][]byte) (all []io.ReadSeeker) {
	for _, b := range images {
		all = append(all, bytes.NewReader(b))
	}
	return all
}

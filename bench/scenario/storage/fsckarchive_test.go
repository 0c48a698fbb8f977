//go:build scenario

package storage

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
	"orbweaver/warc/warctool"
	"orbweaver/warc/zipnum"
)

// A cluster stands for an index that is not there, as long as it has the lines of the file. A line of the manifest
// with another length is a fault.
func TestFsck_comparesFilesWithClusterAndManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+523, simweb.Faulty()), true)
		rig.MustCrawl(t, testbed.FsckConfig(rig), rig.FS)
		const dir = "crawl/" + layout.ArchiveDir
		files, err := warc.Files(rig.FS, dir)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		var names []string
		for _, f := range files {
			names = append(names, dir+"/"+f.Name)
		}
		index, tool := warc.IndexName(names[0]), warctool.Tool{FS: rig.FS, Err: io.Discard}
		lines := testbed.NamedFiles(t, rig.FS)[index]

		writeFile(t, rig.FS, index, []byte(lines[strings.Index(lines, "\n")+1:])) // without its first line
		if _, err := tool.WriteCluster(dir, names...); err != nil {
			t.Fatal(err)
		}
		if err := rig.FS.Remove(index); err != nil {
			t.Fatal(err)
		}
		if r := testbed.Fsck(t, rig.FS); !says(&r, "index", "missing") {
			t.Errorf("the cluster has fewer lines than the file: %v", r.Findings)
		}
		removeCluster(t, rig.FS, dir)
		if _, err := tool.WriteCluster(dir, names...); err != nil { // the file is read
			t.Fatal(err)
		}
		r := testbed.Fsck(t, rig.FS)
		testbed.WantSound(t, &r)

		manifest := dir + "/" + fixity.ManifestName
		listed := testbed.NamedFiles(t, rig.FS)[manifest]
		writeFile(t, rig.FS, manifest, []byte(strings.Replace(listed, `"bytes":`, `"bytes":1`, 1)))
		r = testbed.Fsck(t, rig.FS)
		if !says(&r, "archive", "its line in the manifest") {
			t.Errorf("the manifest is another: %v", r.Findings)
		}
	})
}

func removeCluster(t *testing.T, fsys *vfs.Mem, dir string) {
	t.Helper()
	parts, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range parts {
		if !zipnum.IsPart(name) {
			continue
		}
		if err := fsys.Remove(dir + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
}

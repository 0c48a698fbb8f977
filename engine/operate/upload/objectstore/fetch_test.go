package objectstore

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"orbweaver/engine/operate/upload"
	"orbweaver/internal/vfs/vfstest"
)

// An object is confirmed as long as it has the bytes of its receipt. A file that was removed here comes back whole, or
// not at all.
func TestFetchBack_bringsBackWhatTheReceiptSays(t *testing.T) {
	for _, length := range []int{1000, 150 << 10} {
		b := newBucket(t)
		f := b.file(length)
		want := vfstest.ReadAll(t, b.disk, f.Path())
		r, err := b.store().Send(t.Context(), f)
		if err != nil || r.Object != "s3://bucket/crawls/one/"+warcName {
			t.Fatalf("%+v, %v", r, err)
		}
		r.File, r.Target = f.Name, b.store().Target()
		if err := b.store().Confirm(t.Context(), f, &r); err != nil {
			t.Errorf("%d bytes: %v", length, err)
		}
		if err := b.disk.Remove(f.Path()); err != nil {
			t.Fatal(err)
		}
		wrong := r
		wrong.SHA256 = strings.Repeat("0", 64)
		if err := b.store().FetchBack(t.Context(), b.disk, "crawl", &wrong); !errors.Is(err, ErrDiffers) {
			t.Errorf("another digest: %v", err)
		}
		if _, err := b.disk.Size(f.Path()); err == nil {
			t.Error("a file with another digest has come back")
		}
		if err := b.store().FetchBack(t.Context(), b.disk, "crawl", &r); err != nil {
			t.Fatal(err)
		}
		if got := vfstest.ReadAll(t, b.disk, f.Path()); !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back, %d were sent", len(got), len(want))
		}
		b.putObject("crawls/one/"+warcName, want[1:])
		if err := b.store().Confirm(t.Context(), f, &r); !errors.Is(err, upload.ErrLost) {
			t.Errorf("a changed object: %v", err)
		}
	}
}

// A file that is not what the manifest says is not sent.
func TestSend_UL6_refusesADamagedFile(t *testing.T) {
	b := newBucket(t)
	f := b.file(1000)
	f.SHA256 = strings.Repeat("0", 64)
	if _, err := b.store().Send(t.Context(), f); !errors.Is(err, upload.ErrDamaged) {
		t.Errorf("%v", err)
	}
	if b.bodies() != 1 {
		t.Errorf("%d requests with bodies, want that of the index", b.bodies())
	}
}

// A long file is sent although the disk is full and takes no draft.
func TestSend_needsNoRoomOnTheDisk(t *testing.T) {
	b := newBucket(t)
	f := b.file(150 << 10)
	f.Draft = fullDraft{}
	if _, err := b.store().Send(t.Context(), f); err != nil {
		t.Error(err)
	}
}

// fullDraft is a draft on a full disk.
type fullDraft struct{ upload.NoDraft }

func (fullDraft) Save(any) error { return fmt.Errorf("upload: %w", syscall.ENOSPC) }

func (b *bucket) putObject(key string, text []byte) {
	b.t.Helper()
	_, err := b.backend.PutObject("bucket", key, map[string]string{}, bytes.NewReader(text), int64(len(text)), nil)
	if err != nil {
		b.t.Fatal(err)
	}
}

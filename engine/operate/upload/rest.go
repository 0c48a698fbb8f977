package upload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/warc/fixity"
)

// RestReceiver is a Receiver that takes other files, too, when the crawl has ended: those that would be missed if the
// machine were lost.
type RestReceiver interface {
	Receiver

	// SendRest returns when the receiver has the files. A file that it has already is not sent again.
	SendRest(ctx context.Context, fsys vfs.FS, files []RestFile) error
}

// RestFile is a file beside the WARC files.
type RestFile struct {
	Path  string
	Key   string // relative to the target; its directory has the name of the crawl
	Draft Draft
}

// sendRest sends the manifest of the archive, the crawl log and the report. It reports whether it is done: all are
// sent, or the receiver refuses them.
func (s *sender) sendRest(ctx context.Context, now time.Time) (isDone bool) {
	to, ok := s.to.(RestReceiver)
	if !ok || s.hasRest {
		return true
	}
	if now.Before(s.paused) {
		return false
	}
	files, err := s.restFiles()
	if err == nil {
		err = to.SendRest(ctx, s.fsys, files)
	}
	_, isRefused := errors.AsType[*RefusedError](err)
	s.hasRest = err == nil || isRefused
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.rest = 0
	if err != nil && ctx.Err() == nil {
		s.failures++
		s.paused = now.Add(backOff(s.failures))
		s.stats.rest, s.stats.lastError = max(int64(len(files)), 1), err.Error()
		s.warn("manifest, crawl log and report could not be sent", "error", err)
	}
	return s.hasRest
}

// restFiles lists the files of a crawl that has ended.
func (s *sender) restFiles() (files []RestFile, err error) {
	m, err := manifest.Read(s.fsys, s.dir+"/"+layout.FrontierDir)
	if err != nil || m == nil {
		return nil, err
	}
	dir := fmt.Sprintf("crawl-%016x/", m.StoreID())
	names := []string{
		layout.ReportFile, layout.ArchiveDir + "/" + fixity.ManifestName, layout.ArchiveDir + "/" + fixity.SumsName,
	}
	logs, err := s.fsys.List(s.dir + "/" + layout.LogsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("upload: %w", err)
	}
	for _, name := range logs {
		if strings.HasPrefix(name, "crawl.log") && !strings.HasSuffix(name, vfs.TemporarySuffix) {
			names = append(names, layout.LogsDir+"/"+name)
		}
	}
	for _, name := range names {
		if _, err := s.fsys.Size(s.dir + "/" + name); err != nil {
			continue // not every crawl has each of them
		}
		base := name[strings.LastIndexByte(name, '/')+1:]
		files = append(files, RestFile{
			Path: s.dir + "/" + name, Key: dir + base,
			Draft: &DraftFile{FS: s.fsys, Name: s.receipts.Dir + "/" + base + draftSuffix},
		})
	}
	return files, nil
}

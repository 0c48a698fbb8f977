package warctool

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/header"
	"orbweaver/warc/member"
)

// RewriteOptions configure Rewrite.
type RewriteOptions struct {
	// Compression of the new file.
	Compression warc.Compression
	// CheckDigests leaves out records whose block digest does not match, or that of the payload if nothing else shows
	// damage. Otherwise digests are not computed.
	CheckDigests bool
	// Software and Now are for the warcinfo record that a file with records of ARC files begins with.
	Software string
	Now      time.Time
	// OnFault is called with each place where a record was left out, or where bytes are no record. Default: none.
	OnFault func(*warc.Fault)
	// OnProgress is called behind each record. Default: none.
	OnProgress func(RewriteProgress)
}

// WithDefaults returns a copy of o whose nil fields have their defaults.
func (o RewriteOptions) WithDefaults() RewriteOptions {
	if o.OnFault == nil {
		o.OnFault = func(*warc.Fault) {}
	}
	if o.OnProgress == nil {
		o.OnProgress = func(RewriteProgress) {}
	}
	return o
}

// RewriteProgress is how far Rewrite is.
type RewriteProgress struct {
	File    string // that is read
	Read    int64  // bytes of all files up to now; what is behind damage may count twice
	Records int64
}

// RewriteResult is what Rewrite did.
type RewriteResult struct {
	File    string `json:"file"`    // that was written
	Bytes   int64  `json:"bytes"`   // its length
	Records int64  `json:"records"` // in it
	LeftOut int64  `json:"left_out"`
	// Mended counts faults of form that the new file does not have, such as several records in a gzip member.
	Mended int64 `json:"mended"`
}

// ErrExists says that the new file would replace another one.
var ErrExists = errors.New("the file exists: name one that does not")

// ErrNoRecord says that nothing was written, since no record could be read.
var ErrNoRecord = errors.New("no record could be read, so nothing is written")

// Rewrite copies all records of some files that can be read into the file out, which must not exist. Damage is told to
// OnFault; an error is that of a disk, and then there is no new file.
func Rewrite(fsys vfs.FS, out string, o RewriteOptions, names ...string) (RewriteResult, error) {
	r := rewriter{fsys: fsys, o: o.WithDefaults(), scratch: scratch{fsys: fsys, name: out + ".record.tmp"}}
	r.result.File = out
	if _, err := fsys.Size(out); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w", out, ErrExists)
		}
		return r.result, err
	}
	var err error
	r.packer, err = member.NewPacker(member.PackerOptions{
		Compression: r.o.Compression, Level: level, Scratch: &r.scratch,
	})
	if err != nil {
		return r.result, fmt.Errorf("warc: %w", err)
	}
	err = vfs.WriteAtomic(fsys, out, func(w io.Writer) error {
		r.out = w
		for _, name := range names {
			if err := r.file(name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if r.result.Records == 0 {
			return ErrNoRecord
		}
		return nil
	})
	return r.result, errors.Join(err, r.scratch.close())
}

// level is that of a crawl's archive.
const level = 1

// rewriter writes one file.
type rewriter struct {
	fsys    vfs.FS
	o       RewriteOptions
	packer  *member.Packer
	out     io.Writer
	scratch scratch
	header  []byte
	name    string // of the file that is read, its last part
	read    int64  // bytes of all files
	hasInfo bool   // of ARC files
	result  RewriteResult
}

// file copies the records of one file.
func (r *rewriter) file(name string) (err error) {
	f, err := r.fsys.Open(name)
	leaveOut := func(fault *warc.Fault) error {
		r.result.LeftOut++
		r.o.OnFault(fault)
		return nil
	}
	if err != nil {
		return leaveOut(warc.Unopened(name, err))
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r.name = path.Base(name)
	options := warc.ReaderOptions{
		Name: r.name, Syntax: warc.Warn, OnFault: func(*warc.Fault) { r.result.Mended++ },
	}
	z := warc.NewReader(&countedFile{File: f, read: &r.read}, options)
	defer z.Close()
	return warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		if rec.IsARC {
			if err := r.begin(rec); err != nil {
				return err
			}
		}
		if err := r.checked(z, rec); err != nil {
			return err
		}
		r.o.OnProgress(RewriteProgress{File: r.name, Read: r.read, Records: r.result.Records})
		return nil
	}, leaveOut)
}

// countedFile counts what is read of a file.
type countedFile struct {
	vfs.File

	read *int64
}

// Read reads on.
func (c *countedFile) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	*c.read += int64(n)
	return n, err
}

// Seek is that of the file, if it has one: a Reader goes back behind damage.
func (c *countedFile) Seek(offset int64, whence int) (int64, error) {
	if f, ok := c.File.(io.Seeker); ok {
		return f.Seek(offset, whence)
	}
	return 0, errors.ErrUnsupported
}

// checked copies a record, or returns a *warc.Fault and writes nothing.
func (r *rewriter) checked(z *warc.Reader, rec *warc.RecordRead) error {
	if !r.o.CheckDigests {
		return r.write(rec, rec)
	}
	check := block.NewDigestCheck(claimsOf(z, rec))
	if err := r.pack(rec, io.TeeReader(rec, hashing{check})); err != nil {
		return err
	}
	if faults := check.Faults(); len(faults) > 0 {
		return &warc.Fault{Kind: warc.ErrDigest, File: r.name, Offset: rec.Offset, What: faults[0]}
	}
	return r.append()
}

// claimsOf returns the digest that decides whether a record is whole: that of its block. Many programs compute that of
// the payload in another way, so it counts only if nothing else does: there is no other, and no checksum of gzip.
func claimsOf(z *warc.Reader, rec *warc.RecordRead) block.Claims {
	c := block.Claims{Block: rec.Get("WARC-Block-Digest"), HTTP: rec.IsHTTP()}
	isPart := rec.Get("WARC-Truncated") != "" || rec.Get("WARC-Segment-Number") != ""
	if c.Block == "" && z.Compression() != warc.Gzip && rec.Type != warc.Revisit && !isPart {
		c.Payload = rec.Get("WARC-Payload-Digest")
	}
	return c
}

// hashing adds what is written to digests.
type hashing struct{ *block.DigestCheck }

// Write implements io.Writer.
func (h hashing) Write(b []byte) (int, error) {
	h.DigestCheck.Write(b)
	return len(b), nil
}

// write copies a record.
func (r *rewriter) write(rec *warc.RecordRead, content io.Reader) error {
	if err := r.pack(rec, content); err != nil {
		return err
	}
	return r.append()
}

// pack makes a member of a record. An error of the content is returned as it is.
func (r *rewriter) pack(rec *warc.RecordRead, content io.Reader) error {
	r.packer.Reset()
	r.packer.Begin(false)
	h := append(r.header[:0], "WARC/"+rec.Version+"\r\n"...)
	for _, f := range rec.Fields {
		h = append(append(append(append(h, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	r.header = append(h, "\r\n"...)
	if err := r.packer.Write(r.header); err != nil {
		return err
	}
	if _, err := io.Copy(packing{r.packer}, content); err != nil {
		return err
	}
	if err := r.packer.Write([]byte("\r\n\r\n")); err != nil {
		return err
	}
	return r.packer.End()
}

// append writes the member to the new file.
func (r *rewriter) append() error {
	packed, err := r.packer.Output()
	if err != nil {
		return err
	}
	if err := packed.WriteAt(appending{r.out}, 0); err != nil {
		return err
	}
	r.result.Bytes += packed.Size()
	r.result.Records++
	return nil
}

// begin makes a record of an ARC file one of WARC: it gets an identity, and its file a warcinfo record.
func (r *rewriter) begin(rec *warc.RecordRead) error {
	if !r.hasInfo {
		r.hasInfo = true
		text := warc.InfoBlock([]warc.Field{
			{Name: "software", Value: r.o.Software}, {Name: "format", Value: "WARC File Format 1.0"},
			{Name: "description", Value: "made from ARC files, such as " + r.name},
		})
		info := warc.RecordRead{Version: "1.0", Fields: []warc.Field{
			{Name: "WARC-Type", Value: "warcinfo"}, {Name: "WARC-Record-ID", Value: idOf(r.name, "warcinfo", 0, 0)},
			{Name: "WARC-Date", Value: r.o.Now.UTC().Format(time.RFC3339)},
			{Name: "Content-Type", Value: "application/warc-fields"},
			{Name: "Content-Length", Value: fmt.Sprint(len(text))},
		}}
		if err := r.write(&info, bytes.NewReader(text)); err != nil {
			return err
		}
	}
	id := idOf(r.name, string(rec.TargetURI)+" "+rec.Get("WARC-Date"), rec.Offset, rec.Inner)
	for i, f := range rec.Fields {
		if f.Name == "WARC-Type" && f.Value == "warcinfo" { // what an ARC file says of itself
			rec.Fields[i].Value = "metadata"
		}
	}
	rec.Fields = slices.Insert(rec.Fields, 1, warc.Field{Name: "WARC-Record-ID", Value: id})
	return nil
}

// idOf is the identity of a record that has none.
func idOf(file, text string, offset, inner int64) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d %d %s", file, offset, inner, text))
	id := header.ID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80 // a UUID of version 5, by name
	return "<" + id.String() + ">"
}

// packing writes into a Packer.
type packing struct{ *member.Packer }

// Write implements io.Writer.
func (p packing) Write(b []byte) (int, error) { return len(b), p.Packer.Write(b) }

// appending writes what comes in order, at its end.
type appending struct{ io.Writer }

// WriteAt ignores the offset.
func (a appending) WriteAt(b []byte, _ int64) (int, error) { return a.Write(b) }

// scratch keeps the middle of a record in a file. It implements member.Scratch.
type scratch struct {
	fsys vfs.FS
	name string
	file vfs.File
	size int64

	isOpen bool // file is there
}

// Write appends.
func (s *scratch) Write(b []byte) (n int, err error) {
	if !s.isOpen {
		if s.file, err = s.fsys.Create(s.name); err != nil {
			return 0, err
		}
		s.isOpen = true
	}
	n, err = s.file.WriteAt(b, s.size)
	s.size += int64(n)
	return n, err
}

// ReadAt reads what was written.
func (s *scratch) ReadAt(b []byte, offset int64) (int, error) { return s.file.ReadAt(b, offset) }

// Reset removes all bytes.
func (s *scratch) Reset() { s.size = 0 }

func (s *scratch) close() error {
	if !s.isOpen {
		return nil
	}
	return errors.Join(s.file.Close(), s.fsys.Remove(s.name))
}

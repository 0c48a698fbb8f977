package objectstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"orbweaver/engine/operate/upload"
	"orbweaver/internal/vfs"
)

// parts sends a file as a multipart upload, and continues one that was interrupted. The store knows which parts it has.
// Each of them is compared with the file, so nothing depends on what was known before the interruption except the id of
// the upload.
type parts struct {
	*Store

	file  vfs.File
	key   string
	sum   *sums
	draft upload.Draft
	id    string
}

// draftForm is what is kept of an upload that is not complete.
type draftForm struct {
	Format   int    `json:"format"` // 1
	Target   string `json:"target"`
	Key      string `json:"key"`
	UploadID string `json:"upload_id"`
	SHA256   string `json:"sha256"` // of the file
	Part     int64  `json:"part_bytes"`
}

const draftFormat = 1

func (p *parts) send(ctx context.Context) error {
	have, err := p.resume(ctx)
	if err != nil {
		return err
	}
	complete := make([]minio.CompletePart, len(p.sum.parts))
	for i := range p.sum.parts {
		part := &p.sum.parts[i]
		done, ok := have[i+1]
		if !ok || done.Size != part.length || !strings.EqualFold(strings.Trim(done.ETag, `"`), hex.EncodeToString(part.md5)) {
			if done, err = p.sendPart(ctx, i+1, part); err != nil {
				return err
			}
		}
		complete[i] = minio.CompletePart{PartNumber: i + 1, ETag: done.ETag}
		if done.ChecksumSHA256 != "" {
			complete[i].ChecksumSHA256 = done.ChecksumSHA256
		}
	}
	err = p.watched(ctx, func(ctx context.Context, _ func()) error {
		_, err := p.core.CompleteMultipartUpload(ctx, p.bucket, p.key, p.id, complete, minio.PutObjectOptions{})
		return err
	})
	if isNoUpload(err) { // it was completed, and the answer was lost: verify decides. Or it is gone, and begins again
		return errors.Join(p.draft.Remove(), p.existing(ctx, err))
	}
	if err != nil {
		return err
	}
	return p.draft.Remove()
}

// existing returns nil if there is an object, and err otherwise.
func (p *parts) existing(ctx context.Context, err error) error {
	if _, statErr := p.stat(ctx, p.key); statErr == nil {
		return nil
	}
	return err
}

// resume finds the upload of an earlier try and the parts that the store has, or begins an upload.
func (p *parts) resume(ctx context.Context) (have map[int]minio.ObjectPart, err error) {
	want := draftForm{
		Format: draftFormat, Target: p.target, Key: p.key, SHA256: p.sum.sha256Hex(), Part: p.sum.parts[0].length,
	}
	var kept draftForm
	if p.draft.Load(&kept) {
		p.id = kept.UploadID
		kept.UploadID = ""
		if kept == want && p.id != "" {
			have, err = p.list(ctx)
			if !isRefused(err) {
				return have, err
			}
		}
		if kept.Target == p.target && p.id != "" { // of another file under the same name, or it cannot be continued
			_ = p.core.AbortMultipartUpload(ctx, p.bucket, kept.Key, p.id) // it costs only room in the store
		}
	}
	o := p.options(p.key, p.sum)
	if p.checksums {
		o.UserMetadata["x-amz-checksum-algorithm"] = "SHA256"
	}
	err = p.watched(ctx, func(ctx context.Context, _ func()) error {
		p.id, err = p.core.NewMultipartUpload(ctx, p.bucket, p.key, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.id == "" {
		return nil, errors.New("the store has begun an upload without an id")
	}
	want.UploadID = p.id
	if err := p.draft.Save(&want); !vfs.IsFull(err) {
		return nil, err
	}
	return nil, nil // without the id an interruption costs a second transfer, but a full disk gets room
}

// isNoUpload reports whether the store does not know the upload.
func isNoUpload(err error) bool {
	var answer minio.ErrorResponse
	return errors.As(err, &answer) && (answer.Code == "NoSuchUpload" || answer.StatusCode == http.StatusNotFound)
}

// isRefused reports whether the store does not know the upload, or does not list parts: some stores cannot, and some
// keys may not. Then the upload begins again.
func isRefused(err error) bool {
	var answer minio.ErrorResponse
	return errors.As(err, &answer) && answer.StatusCode >= 400 && answer.StatusCode < 500 &&
		answer.StatusCode != http.StatusRequestTimeout && answer.StatusCode != http.StatusTooManyRequests
}

// list returns the parts that the store has.
func (p *parts) list(ctx context.Context) (map[int]minio.ObjectPart, error) {
	have := map[int]minio.ObjectPart{}
	for marker := 0; ; {
		var page minio.ListObjectPartsResult
		err := p.watched(ctx, func(ctx context.Context, _ func()) (err error) {
			page, err = p.core.ListObjectParts(ctx, p.bucket, p.key, p.id, marker, 1000)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, part := range page.ObjectParts {
			have[part.PartNumber] = part
		}
		if !page.IsTruncated {
			return have, nil
		}
		if page.NextPartNumberMarker <= marker {
			return nil, fmt.Errorf("the list of parts does not end: part %d follows part %d", page.NextPartNumberMarker, marker)
		}
		marker = page.NextPartNumberMarker
	}
}

// sendPart sends one part. The store verifies its MD5 and SHA-256.
func (p *parts) sendPart(ctx context.Context, number int, part *partSums) (done minio.ObjectPart, err error) {
	o := minio.PutObjectPartOptions{Md5Base64: part.md5Base64(), Sha256Hex: part.sha256Hex(), DisableContentSha256: true}
	if p.checksums {
		o.CustomHeader = http.Header{"X-Amz-Checksum-Sha256": {part.sha256Base64()}}
	}
	err = p.watched(ctx, func(ctx context.Context, alive func()) error {
		body := &reader{SectionReader: io.NewSectionReader(p.file, part.offset, part.length), ctx: ctx, alive: alive}
		done, err = p.core.PutObjectPart(ctx, p.bucket, p.key, p.id, number, body, part.length, o)
		return err
	})
	if err == nil && done.ETag == "" {
		err = fmt.Errorf("part %d has no ETag", number)
	}
	return done, err
}

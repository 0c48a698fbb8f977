// Package objectstore sends files to a bucket of an object store that speaks S3, and proves that they have arrived.
// It is the home of minio-go, which signs requests and reads answers. What to send again, and when, is decided here and
// in package upload: the client has no retries of its own.
//
// The chain of functions:
//
//	Store.Send -> Store.put for the index, then for the WARC file
//	Store.put  -> Store.stat -> digest -> Store.putWhole, or parts.send -> Store.verify
//	Store.verify: HEAD for the length; then the ETag, the SHA-256 of the store, or the whole object read back
//	Open -> object.request: GET with Range; object.Read -> object.resume asks for the rest
//	Buckets.Open -> bucketFile.request -> Open: the objects of others as files, which are only read
package objectstore

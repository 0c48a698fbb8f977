// Package recrawl finds the captures of earlier passes, so that a recrawl (--refresh) can make conditional requests
// (RFC 9110, section 13) and can read a stored page that the server reports as unchanged.
//
//   - Beginning begins a new pass of a finished crawl: it replaces the manifest.
//   - Pass describes a pass: its number, and where the archive ended when it began. WriteIndex indexes the earlier
//     captures with status 200 (engine/records/capture); RemoveOtherIndexes deletes the indexes of other passes.
//   - PreviousCrawl is what fetch workers and parse workers use. Captures implements it; FirstPass is the null
//     implementation for a crawl without an earlier pass.
//   - Condition holds the validators of one conditional request and the capture that they belong to.
//
// Of a WARC file that was removed here (--upload-then delete), only the records are read, from its object: see
// objectReader. A store that fails is left alone for a time.
//
// A page is requested unconditionally if its last capture is damaged, truncated or without a usable validator. The
// archive may be damaged, so a fault is logged and never ends the crawl.
//
// The decision which request is sent, and how a pass begins:
//
//	engine.Open -> Beginning.Next -> Pass.WriteIndex -> manifest.Write; then restore.Crawl.BeginPass
//	fetch worker -> PreviousCrawl.FillCondition -> Captures.lastCapture -> catalogue.Index.Lookup
//	                                            -> Condition.setValidators -> appendETag, appendLastModified
//	parse worker -> attempt.IsUnchanged -> PreviousCrawl.ReadPage
//	captureReader.readStart -> warc.Archive, or objectReader.readStart -> vfs.OpenRange -> receipts.Objects
//
// Up to readersMost goroutines read at a time; others wait. The package starts no goroutine.
package recrawl

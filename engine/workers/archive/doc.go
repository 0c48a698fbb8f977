// Package archive opens the WARC files of a crawl: their options, the writer, the encoders of workers, and the warcinfo
// record. Package warc has the format; engine/store/journal writes records and journal entries together.
//
//	engine.Open -> Options.Open -> warc.OpenWriter: what lies behind the end of the journal is cut off
//	workers     -> Options.Encoder
package archive

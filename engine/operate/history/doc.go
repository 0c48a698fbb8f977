// Package history keeps numbers of a crawl over time in fixed memory: one sample each second for an hour, and the mean
// of each minute for a week. A small file keeps them over restarts.
//
//	Recorder.Run -> report.Report -> ratesOf, valuesOf -> History.Add: seconds, and minutes when one ends
//	Recorder.Query -> History.Query -> ring.within: at most so many points, each the mean of its samples
//
// A sample is one float32 for each name of Names: about 0.8 MB in all. A name that is added later needs no new format:
// the file has the names, and those that it lacks have no values.
//
// The crawl does not depend on any of this. A file that cannot be read or written is reported once and changes nothing.
package history

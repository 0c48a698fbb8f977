// Package cdxj writes and reads the lines of CDXJ indexes, in the form of pywb and warcio. A line has the key of a URL,
// the time of the capture, and a JSON object:
//
//	com,example)/ 20260102030405 {"url":"http://example.com/","mime":"text/html","status":"200","digest":"...",
//	                              "length":"12","offset":"345","filename":"x.warc.gz"}
//
//	Entry.Append ---> Lines.Add ---> Lines.WriteSorted ---> file ---> ScanLines, ParseLine ---> Line
//	 when captured     when stored    when the file is full
//
// Lines of CDX are read, too: their columns are those that the first line of the file names, or as many as pywb knows.
//
// It opens no file, and does not know records: package warc makes an Entry of one.
//
// No value from the network adds a line or a column. A damaged line is an ErrLine, and the scan continues behind it.
// The lines of an archive file of 1 GiB take about 40 MB of memory, in blocks that are not copied when they grow.
//
// Nothing here is safe for concurrent use, and nothing starts a goroutine.
package cdxj

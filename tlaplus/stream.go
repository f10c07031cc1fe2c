package main

import (
	"fmt"
	"strings"
)

// stream is what goes over a connection, as model TcpStream has it: messages of so many bytes, in frames. A byte of the
// model stands for as many of a real run as nothing divides.
type stream struct {
	sizes  []int
	frames []frame
}

// frame is a header, and data of a message or of something else.
type frame struct {
	message int // from 1; 0: none
	left    int // bytes of the message that are left, this frame's included
	head    int // bytes of the header
	data    int
}

// smallStream returns messages in frames of two bytes, after one with something else if there is one.
func smallStream(sizes []int, told bool) *stream {
	s := &stream{sizes: sizes}
	if told {
		s.frames = append(s.frames, frame{head: 2, data: 1})
	}
	for i, size := range sizes {
		for left := size; ; left -= 2 {
			s.frames = append(s.frames, frame{i + 1, left, 2, min(left, 2)})
			if left <= 2 {
				break
			}
		}
	}
	return s
}

// module is module Frames.
func (s *stream) module() string {
	var bytes, frames []string
	ends, placed := make([]string, len(s.sizes)), make([]int, len(s.sizes)+1)
	for i := range ends {
		ends[i] = "0" // it never ends
	}
	heads, turns := s.frames[0].head, []int{}
	for i, f := range s.frames {
		if f.message > 0 {
			turns = append(turns, i+1)
		}
		heads = min(heads, f.head)
		bytes = append(bytes, f.bytes(placed[f.message])...)
		placed[f.message] += f.data
		frames = append(frames, fmt.Sprintf("[message |-> %d, left |-> %d, data |-> %d, ends |-> %d]", f.message, f.left,
			f.data, len(bytes)))
		if f.message > 0 && f.data == f.left {
			ends[f.message-1] = fmt.Sprint(len(bytes))
		}
	}
	return fmt.Sprintf("---- MODULE Frames ----\nEXTENDS Naturals, Sequences\n\nSizes == %s\nHeads == %d \\* bytes of "+
		"the shortest header\n\n"+
		"Stream == <<\n  %s\n>>\n\nFrames == <<\n  %s\n>>\n\nTurns == %s \\* the frames of messages\nMessageEnds == <<%s>> "+
		"\\* 0: never\n====\n",
		tuple(s.sizes), heads, strings.Join(bytes, ",\n  "), strings.Join(frames, ",\n  "), tuple(turns),
		strings.Join(ends, ", "))
}

// bytes returns those of f as TcpStream has them, after so many of the message's.
func (f *frame) bytes(before int) []string {
	first, data := 1, 0
	if f.message == 0 {
		first, data = 3, 4
	}
	all := []string{fmt.Sprintf("<<%d, %d, %d, %d>>", first, f.left, f.data, f.head)}
	for k := range f.head - 1 {
		all = append(all, fmt.Sprintf("<<2, %d, %d, 0>>", f.message, k+1))
	}
	for k := range f.data {
		all = append(all, fmt.Sprintf("<<%d, %d, %d, 0>>", data, f.message, before+k+1))
	}
	return all
}

// tuple returns a sequence of numbers.
func tuple(all []int) string {
	return "<<" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(all)), ", "), "[]") + ">>"
}

#include "textflag.h"

// A lane is one message: its state of five words as ABCD and E, four registers with sixteen words of the message, and a register to
// work in. The instructions of two lanes depend on nothing of each other, so while one lane waits for its round the other has its own.
//
//	        ABCD  E   work  message
//	lane a  X0    X1  X2    X3  X4  X5  X6
//	lane b  X7    X8  X9    X10 X11 X12 X13
//	both    X14: the order of bytes in words

DATA flip<>+0(SB)/8, $0x08090a0b0c0d0e0f
DATA flip<>+8(SB)/8, $0x0001020304050607
GLOBL flip<>(SB), RODATA|NOPTR, $16

// LOAD reads sixteen words of a message.
#define LOAD(p, m0, m1, m2, m3) \
	MOVOU 0(p), m0; PSHUFB X14, m0 \
	MOVOU 16(p), m1; PSHUFB X14, m1 \
	MOVOU 32(p), m2; PSHUFB X14, m2 \
	MOVOU 48(p), m3; PSHUFB X14, m3

// NEXT makes the next four words of the schedule (FIPS 180-4, section 6.1.2) in m0, of the sixteen before, oldest first.
#define NEXT(m0, m1, m2, m3) \
	SHA1MSG1 m1, m0 \
	PXOR m2, m0 \
	SHA1MSG2 m3, m0

// ROUNDS makes four rounds with the words m. e comes as ABCD of four rounds ago; work leaves as ABCD of now.
#define ROUNDS(f, m, abcd, e, work) \
	SHA1NEXTE m, e \
	MOVO abcd, work \
	SHA1RNDS4 $f, e, abcd

// Four rounds of both lanes, with words that are there (THERE) or to be made first (MAKE). e and work change roles each time.
#define THERE(f, a, b, ea, wa, eb, wb) \
	ROUNDS(f, a, X0, ea, wa) \
	ROUNDS(f, b, X7, eb, wb)

#define MAKE(f, a0, a1, a2, a3, b0, b1, b2, b3, ea, wa, eb, wb) \
	NEXT(a0, a1, a2, a3) \
	NEXT(b0, b1, b2, b3) \
	ROUNDS(f, a0, X0, ea, wa) \
	ROUNDS(f, b0, X7, eb, wb)

#define MAKE0(f, ea, wa, eb, wb) MAKE(f, X3, X4, X5, X6, X10, X11, X12, X13, ea, wa, eb, wb)
#define MAKE1(f, ea, wa, eb, wb) MAKE(f, X4, X5, X6, X3, X11, X12, X13, X10, ea, wa, eb, wb)
#define MAKE2(f, ea, wa, eb, wb) MAKE(f, X5, X6, X3, X4, X12, X13, X10, X11, ea, wa, eb, wb)
#define MAKE3(f, ea, wa, eb, wb) MAKE(f, X6, X3, X4, X5, X13, X10, X11, X12, ea, wa, eb, wb)

// func blocks(sa, sb *[8]uint32, a, b *byte, n int)
//
// The states are in the order D C B A 0 0 0 E, as the instructions want them.
TEXT ·blocks(SB), NOSPLIT, $0-40
	MOVQ sa+0(FP), R8
	MOVQ sb+8(FP), R9
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DI
	MOVQ n+32(FP), CX
	MOVOU flip<>(SB), X14

loop:
	TESTQ CX, CX
	JZ   done
	MOVOU 0(R8), X0
	MOVOU 16(R8), X1
	MOVOU 0(R9), X7
	MOVOU 16(R9), X8
	LOAD(SI, X3, X4, X5, X6)
	LOAD(DI, X10, X11, X12, X13)

	// The first four rounds have E itself, not the ABCD of which it would be made.
	PADDL X3, X1
	PADDL X10, X8
	MOVO  X0, X2
	MOVO  X7, X9
	SHA1RNDS4 $0, X1, X0
	SHA1RNDS4 $0, X8, X7
	THERE(0, X4, X11, X2, X1, X9, X8)
	THERE(0, X5, X12, X1, X2, X8, X9)
	THERE(0, X6, X13, X2, X1, X9, X8)
	MAKE0(0, X1, X2, X8, X9)

	MAKE1(1, X2, X1, X9, X8)
	MAKE2(1, X1, X2, X8, X9)
	MAKE3(1, X2, X1, X9, X8)
	MAKE0(1, X1, X2, X8, X9)
	MAKE1(1, X2, X1, X9, X8)

	MAKE2(2, X1, X2, X8, X9)
	MAKE3(2, X2, X1, X9, X8)
	MAKE0(2, X1, X2, X8, X9)
	MAKE1(2, X2, X1, X9, X8)
	MAKE2(2, X1, X2, X8, X9)

	MAKE3(3, X2, X1, X9, X8)
	MAKE0(3, X1, X2, X8, X9)
	MAKE1(3, X2, X1, X9, X8)
	MAKE2(3, X1, X2, X8, X9)
	MAKE3(3, X2, X1, X9, X8)

	// To the state before the block.
	MOVOU 16(R8), X3
	MOVOU 16(R9), X10
	SHA1NEXTE X3, X1
	SHA1NEXTE X10, X8
	MOVOU 0(R8), X4
	MOVOU 0(R9), X11
	PADDL X4, X0
	PADDL X11, X7
	MOVOU X0, 0(R8)
	MOVOU X1, 16(R8)
	MOVOU X7, 0(R9)
	MOVOU X8, 16(R9)

	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JMP  loop

done:
	RET

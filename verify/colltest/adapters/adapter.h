// What the adapters in this folder share: a rank's side of the line protocol that docs/conform.md describes. An adapter says
// what it can do, and then calls serve with a function that makes one call.
#ifndef ADAPTER_H
#define ADAPTER_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct buffer {
	char *at;    // NULL: this rank does not pass the buffer
	int blocks;  // in it
	int *counts; // elements of each block
	int *starts; // first element of each block
	int total;   // elements of all blocks
};

struct call {
	char primitive[32], type[16], op[16]; // op "-": none
	int root, peer, in_place, uneven; // uneven: some rank's counts differ
	struct buffer in, out;
};

// invoke makes the call, and returns NULL or what is wrong.
typedef const char *invoke_function(struct call *);

static FILE *from_collgen, *to_collgen;

// fail ends the program: the two sides do not understand each other.
static inline void fail(const char *what) {
	fprintf(stderr, "adapter: %s\n", what);
	exit(2);
}

// say writes a line.
static inline void say(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vfprintf(to_collgen, format, args);
	va_end(args);
	fputc('\n', to_collgen);
}

// introduce connects to collgen, or takes standard input and output if there is nothing to connect to, and says the beginning
// of the hello. The adapter goes on with lines "types", "ops" and "primitive".
static inline void introduce(int rank, int size, const char *name) {
	const char *path = getenv("COLLGEN_CONFORM");
	from_collgen = stdin, to_collgen = stdout;
	if (path) {
		struct sockaddr_un address;
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		memset(&address, 0, sizeof address);
		address.sun_family = AF_UNIX;
		if (strlen(path) >= sizeof address.sun_path) fail("COLLGEN_CONFORM is too long");
		strcpy(address.sun_path, path);
		if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address)) fail("cannot connect to COLLGEN_CONFORM");
		from_collgen = fdopen(s, "r"), to_collgen = fdopen(dup(s), "w");
	}
	say("collgen-conform 1");
	say("rank %d of %d", rank, size);
	say("name %s", name);
}

// A call's words are separated by one space each.
static inline char *word(char **rest) {
	char *w = strsep(rest, " ");
	if (!w) fail("a call with too few words");
	return w;
}

static inline void copy_word(char *to, size_t size, char **rest) { snprintf(to, size, "%s", word(rest)); }

static inline void parse_counts(struct buffer *b, char *text) {
	memset(b, 0, sizeof *b);
	if (!strcmp(text, "-")) return;
	int most = 1;
	for (char *c = text; *c; c++) most += *c == ',';
	b->counts = (int *)calloc((size_t)most, sizeof(int)), b->starts = (int *)calloc((size_t)most, sizeof(int));
	for (char *c; (c = strsep(&text, ","));) {
		b->counts[b->blocks] = atoi(c), b->starts[b->blocks] = b->total;
		b->total += b->counts[b->blocks];
		b->blocks++;
	}
}

static inline int digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

// perform carries out a line "call …", and answers it.
static inline void perform(char *rest, invoke_function *invoke) {
	struct call c;
	copy_word(c.primitive, sizeof c.primitive, &rest);
	copy_word(c.type, sizeof c.type, &rest);
	copy_word(c.op, sizeof c.op, &rest);
	c.root = atoi(word(&rest)), c.peer = atoi(word(&rest));
	c.in_place = !strcmp(word(&rest), "in-place");
	c.uneven = !strcmp(word(&rest), "uneven");
	size_t in_at = strtoul(word(&rest), NULL, 10);
	parse_counts(&c.in, word(&rest));
	size_t out_at = strtoul(word(&rest), NULL, 10);
	parse_counts(&c.out, word(&rest));
	size_t bytes = strtoul(word(&rest), NULL, 10);
	char *memory = NULL, *digits = word(&rest);
	if (strlen(digits) != 2 * bytes || posix_memalign((void **)&memory, 64, bytes + 1)) fail("a call without its memory");
	for (size_t i = 0; i < bytes; i++) memory[i] = (char)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
	if (c.in.counts) c.in.at = memory + in_at;
	if (c.out.counts) c.out.at = memory + out_at;
	const char *error = invoke(&c);
	if (error) {
		say("error %s", error);
	} else {
		for (size_t i = 0; i < bytes; i++) {
			digits[2 * i] = "0123456789abcdef"[(unsigned char)memory[i] >> 4];
			digits[2 * i + 1] = "0123456789abcdef"[memory[i] & 15];
		}
		say("done %s", digits);
	}
	fflush(to_collgen);
	free(memory), free(c.in.counts), free(c.in.starts), free(c.out.counts), free(c.out.starts);
}

// serve ends the hello, and makes calls until there are no more.
static inline void serve(invoke_function *invoke) {
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	say("ready");
	fflush(to_collgen);
	while ((n = getline(&line, &size, from_collgen)) > 0) {
		if (line[n - 1] == '\n') line[n - 1] = 0;
		if (!strcmp(line, "end")) break;
		if (strncmp(line, "call ", 5)) fail("a line that is no call");
		perform(line + 5, invoke);
	}
	free(line);
}

#endif

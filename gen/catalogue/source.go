package catalogue

// The papers that several algorithms are taken from.
const (
	thakur = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, " +
		"IJHPCA 19(1), 2005"
	vandegeijn = "Chan, Heimlich, Purkayastha, van de Geijn: Collective communication: theory, practice, and " +
		"experience, CCPE 19(13), 2007"
	patarasuk = "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69(2), 2009"
	bruck     = "Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications in multiport " +
		"message-passing systems, TPDS 8(11), 1997"
	karonis = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan: Exploiting hierarchy in parallel computer " +
		"networks to optimize collective operation performance, IPDPS 2000"
	jia = "Jia et al.: Highly Scalable Deep Learning Training System with Mixed-Precision, arXiv:1807.11205, 2018, " +
		"section 3.4, hierarchical all-reduce"
	traffSplit = "Träff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication, CLUSTER 2020"
)

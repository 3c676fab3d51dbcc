// Deniable 0.1.0, deniable/survey-element.js: built from client/web/src, where it is readable.
function o(t,e={},...n){let s=document.createElement(t);for(let[i,r]of Object.entries(e))r==null||r===!1||s.setAttribute(i,r===!0?"":String(r));return s.append(...n.filter(i=>i!=null)),s}var w=(t,e,n={})=>o(t,{dir:"auto",...n},e);function b(t,e,n={}){let s=o("button",{type:"button",part:"button",...n},t);return e&&s.addEventListener("click",e),s}var ct="http://www.w3.org/2000/svg";function _(t,e,n,s={}){let i=(a,u)=>{let c=document.createElementNS(ct,a);for(let[l,h]of Object.entries(u))c.setAttribute(l,String(h));return c},r=i("svg",{viewBox:t,class:n,"aria-hidden":"true",...s});return r.append(...e.map(([a,u])=>i(a,u))),r}var ue=t=>_("0 0 100 6",[["rect",{class:"bar-rest",width:100,height:6}],["rect",{class:"bar-share",width:100*t,height:6}]],"bar",{preserveAspectRatio:"none"});var de=()=>crypto.getRandomValues(new Uint8Array(1))[0]%2===1,pe=t=>[o("p",{},t.say("how.coin")),o("p",{},t.say("how.cover")),lt(t),ut(t),o("p",{class:"hint"},t.say("how.here"))];function lt(t){let e=["yes","no"].map(l=>o("input",{type:"radio",name:"secret",value:l,autocomplete:"off"})),[n,s,i]=["face","face idle","face sent"].map(l=>o("span",{class:l},"?")),r=o("p",{role:"status",class:"result"},t.say("how.unflipped")),a=(l,h,d=!1)=>{l.textContent=h,l.classList.toggle("idle",d),l.classList.remove("thrown"),l.getBoundingClientRect(),d||l.classList.add("thrown")},u=l=>t.say(l?"how.heads":"how.tails"),c=()=>{let l=e.find(m=>m.checked)?.value;if(!l)return void(r.textContent=t.say("how.choose"));let h=de(),d=de(),p=t.say(h?l:d?"yes":"no");a(n,u(h)),a(s,h?"–":u(d),h),a(i,p),r.textContent=t.say(h?"how.truth":"how.chance",{sent:p})};return o("div",{class:"try"},o("fieldset",{},o("legend",{},t.say("how.tryCoin")),o("div",{class:"options short"},...e.map(l=>o("label",{class:"option"},l,o("span",{},t.say(l.value)))))),o("p",{},b(t.say("how.flip"),c)),o("div",{class:"faces","aria-hidden":"true"},n,he(),s,he(),i),r)}var he=()=>_("0 0 24 24",[["path",{d:"M4 12h14m-5-5 5 5-5 5"}]],"arrow");function ut(t){let[e,n]=[0,0],s=o("input",{type:"range",min:0,max:100,step:5,value:30,autocomplete:"off",id:"share"}),i=o("label",{for:"share"}),r=_("0 0 400 105",Array.from({length:100},(p,m)=>["path",{d:dt(m)}]),"people"),a=_("0 0 400 40",[["path",{class:"line",d:"M10 20h380"}],["path",{class:"truth",d:"M0 6v28"}],["circle",{class:"said",cy:20,r:7}],["circle",{class:"estimate",cy:20,r:7}]],"scale"),u=o("p",{role:"status",class:"result"}),c=()=>Number(s.value)/100,l=()=>{i.textContent=t.say("how.share",{count:t.number(Number(s.value))}),[...r.children].forEach((f,g)=>f.classList.toggle("yes",g<Number(s.value)));let p=e?n/e:null,m=e?2*(p-.25):null;[c(),p,m].forEach((f,g)=>ht(a.children[g+1],f)),u.textContent=e?t.say("how.result",{people:t.number(e),said:t.percent(p),estimate:t.percent(m),truth:t.percent(c())}):t.say("how.nobody")},h=()=>{[e,n]=[0,0],l()},d=()=>{for(let p of crypto.getRandomValues(new Uint32Array(1e3))){let m=(p>>>2)/1073741824<c();n+=p&1?Number(m):p>>1&1,e++}l()};return s.addEventListener("input",h),l(),o("div",{class:"try"},o("h3",{},t.say("how.crowd")),i,s,r,o("p",{class:"actions"},b(t.say("how.ask"),d)," ",b(t.say("how.again"),h,{class:"quiet"})),a,u,o("p",{class:"hint"},t.say("how.correction")))}function dt(t){let[e,n]=[t%25*16+8,Math.floor(t/25)*26+4];return`M${e} ${n}a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7zM${e-5} ${n+20}v-5a5 5 0 0 1 10 0v5z`}function ht(t,e){t.classList.toggle("gone",e===null),e!==null&&t.setAttribute("transform",`translate(${10+380*Math.min(Math.max(e,0),1)} 0)`)}var Ht=10n**12n,z=t=>{let[e,n=""]=t.split(".");return BigInt(e+n.padEnd(12,"0"))},pt=t=>`${t}`.padStart(13,"0").replace(/(.{12})$/,".$1").replace(/\.?0+$/,""),ft=t=>t.reduce((e,n)=>e+z(n),0n),R=t=>pt(ft(t));var O=class t{constructor(e="0",n="0"){Object.freeze(Object.assign(this,{epsilon:e,delta:n}))}plus({epsilon:e,delta:n}){return new t(R([this.epsilon,e]),R([this.delta,n]))}within({epsilon:e,delta:n}){return z(this.epsilon)<=z(e)&&z(this.delta)<=z(n)}power(e=.05){let n=Math.exp(this.epsilon),s=Number(this.delta);return Math.min(1,Math.min(e*n+s,1-(1-e-s)/n)*(1+1e-10))}},Yt=new O("10","0.000001");var fe=(t,e)=>{let n=1;for(let s=1;s<=e;s++)n=n*(t-e+s)/s;return n},mt=(t,e)=>Math.floor(t/2**e)%2===1;function D(t,e,n){if(t.kind==="drawn"){let a=Math.floor(n/2);return D(t.parts[a],e[a],n%2)/t.parts.length}if(t.kind==="table")return t.weights[e][n]/9007199254740992;let s=t.favour/9007199254740992;if(t.kind==="subset"){let{options:a,size:u}=t;return mt(n,e)?s/fe(a-1,u-1):(1-s)/fe(a-1,u)}let{levels:i,width:r}=t;return e<=n&&n<e+r?s/r:(1-s)/(i-1)}var me=t=>t.options??t.levels??t.weights.length;function F({items:t,channel:e}){return t.length>1?e.size===1?"combination":"combinations":e.kind==="band"&&e.width===1?t[0].question.type==="number"?"point":e.levels===2?"bit":"single":e.kind==="subset"?e.size===1?"single":"set":{band:"range",drawn:"drawn",table:"table"}[e.kind]}var A=({items:t})=>t.length>1?null:t[0].question.delta??null,B=t=>t.items[0].question.type==="number"&&["point","range","table"].includes(F(t)),ge=["opposite","other","outside","elsewhere","far"];function V(t){let{channel:e}=t,n=F(t),s=(e.kind==="drawn"?e.parts[0].favour:e.favour)/9007199254740992,i={form:n,odds:be(e),excess:gt(t)};if(n==="bit")return{...i,chances:[["same",s],["opposite",1-s]]};if(["single","set","combination","combinations"].includes(n)){let[l,h]=e.kind==="band"?[e.levels,1]:[e.options,e.size],d=(s*(h-1)+(1-s)*h)/(l-1);return{...i,count:l,size:h,others:l-1,miss:1-s,chances:[["yours",s],["other",d]]}}if(n==="range"||n==="point"){let{levels:l,width:h}=e;return{...i,levels:l,width:h,miss:1-s,chances:[[n==="range"?"inside":"rounded",s],[n==="range"?"outside":"elsewhere",1-s]]}}if(n==="drawn"){let l=Math.max(...e.parts.map(d=>d.favour))/9007199254740992,h=e.parts.length;return{...i,count:h,chances:[["drawn",1/h],["same",l],["opposite",1-l]]}}let{weights:r}=e,a=r[0].map((l,h)=>ye(e,h)),u=(l,h)=>l.reduce((d,p,m)=>h.some(f=>a[m].includes(f))?d+p:d,0)/9007199254740992,c=Math.max(...r.flatMap((l,h)=>(B(t)?[[h-1,h],[h,h+1]]:[[h]]).map(d=>u(l,d))));return{...i,levels:r.length,reports:r[0].length,chances:[["near",c],["far",1-c]]}}function be(t){if(t.kind==="drawn")return Math.max(...t.parts.map(be));if(t.kind==="table")return Math.max(...t.weights[0].map((s,i)=>{let r=t.weights.map(a=>a[i]);return Math.max(...r)/Math.min(...r)}));let[e,n]=t.kind==="subset"?[t.options-t.size,t.size]:[t.levels-1,t.width];return t.favour*e/((9007199254740992-t.favour)*n)}var we=({epsilon:t},e)=>e>Math.exp(Number(t))*(1+1e-9);function gt(t){let{channel:e}=t;if(!A(t))return 0;let n=e.weights[0].map((s,i)=>{let r=e.weights.map(a=>a[i]);return we(t,Math.max(...r)/Math.min(...r))});return Math.max(...e.weights.map(s=>s.reduce((i,r,a)=>n[a]?i+r:i,0)))/9007199254740992}function ye(t,e){let n=Array.from({length:me(t)},(i,r)=>D(t,r,e)),s=Math.max(...n);return n.flatMap((i,r)=>i===s?[r]:[])}function C(t,e){let{channel:n}=t,s=F(t);if(s==="drawn"){let u=Math.floor(e/2),c=n.parts[u].favour/9007199254740992;return{form:s,option:u,bit:e%2,count:n.parts.length,high:c,low:1-c,odds:c/(1-c),rare:!1}}let i=Array.from({length:me(n)},(u,c)=>D(n,c,e)),[r,a]=[Math.max(...i),Math.min(...i)];return{form:s,points:ye(n,e),reports:n.weights?.[0].length,high:r,low:a,odds:r/a,rare:!!A(t)&&we(t,r/a)}}function P({min:t,max:e},n){let s=Math.min(12,Math.max(0,3-Math.floor(Math.log10(e-t)))),i=a=>Number(a.toFixed(s)),r=a=>i(t+(e-t)*a/(n-1));return Array.from({length:n},(a,u)=>u===n-1?e:u?r(u):t)}function ve({min:t,max:e,bins:n}){return[t,...n.filter(s=>t<s&&s<e),e]}var $=t=>Math.ceil(t*(1-1e-12)*100)/100;function N(t){if(t===0)return 0;let e=Math.min(12,1-Math.floor(Math.log10(t)));return Math.ceil(t*10**e*(1-1e-12))/10**e}function H({most:t=[],least:e=[]}){let n=Math.min(...[...t,...e].flatMap(i=>[i,1-i]).filter(i=>i>1e-15)),s=[100,1e3,1e4,1e5,1e6].find(i=>n*i>=5);return s===void 0?null:{total:s,most:t.map(i=>Math.ceil(i*s*(1-1e-12))),least:e.map(i=>Math.floor(i*s*(1+1e-12)))}}var xe={en:()=>import("./texts/en.js"),es:()=>import("./texts/es.js"),fr:()=>import("./texts/fr.js"),de:()=>import("./texts/de.js"),ar:()=>import("./texts/ar.js")},bt=Object.keys(xe),wt=["ar","dv","fa","he","ks","ku","ps","sd","ug","ur","yi"],ze=t=>t.toLowerCase().split("-")[0],M=t=>wt.includes(ze(t))?"rtl":"ltr";async function Q(t,e){let n=bt.find(i=>i===ze(t))??"en",{default:s}=await xe[n]();return new G(s,e,t,n)}var ke=t=>typeof t=="object"&&t!==null;function Se(t,e){return Object.fromEntries(Object.entries(t).map(([n,s])=>{let i=ke(e)&&Object.hasOwn(e,n)?e[n]:void 0;return ke(s)?[n,Se(s,i)]:[n,typeof i=="string"||typeof i=="function"?i:s]}))}var yt=/[\u202a-\u202e\u2066-\u2069]/g,v=t=>`⁨${t.replace(yt,"")}⁩`;function _e(t,e){if(typeof t=="string")return t.replace(/\{(\w+)\}/g,(n,s)=>Object.hasOwn(e,s)?e[s]:n);try{let n=t(e);return typeof n=="string"?n:void 0}catch{return}}var G=class{#t;#l;#n;#e;constructor(e,n,s,i=s){this.#t=e,this.#l=Se(e,n),this.#n=vt(s),this.#e=this.#o({maximumFractionDigits:12}),this.language=i}#o(e){return new Intl.NumberFormat(this.#n,e)}say(e,n={}){let s=i=>e.split(".").reduce((r,a)=>r?.[a],i);return _e(s(this.#l),n)??_e(s(this.#t),n)}has(e){return this.say(e)!==void 0}time(e){return e.toLocaleString(this.#n,{dateStyle:"full",timeStyle:"short"})}number(e){return this.#e.format(e)}percent(e){return this.#o({style:"percent",minimumFractionDigits:1,maximumFractionDigits:1}).format(e)}minutes(e){return this.#o({style:"unit",unit:"minute",unitDisplay:"long"}).format(e)}either(e){return new Intl.ListFormat(this.#n,{type:"disjunction"}).format(e)}all(e){return new Intl.ListFormat(this.#n,{type:"conjunction"}).format(e)}};function vt(t){try{return t?Intl.getCanonicalLocales(t)[0]:void 0}catch{return}}var Ie="declined";function Y(t,e,n){let s=t.number(n);return e.unit?t.say("amount",{number:s,unit:v(e.unit)}):s}var X=(t,e)=>t.say("quote",{text:v(e)});function Oe({question:t,option:e,codes:n},s,i){if(e){let{text:a}=t.options.find(({code:u})=>u===e);return n.map(u=>i(s.say(u==="yes"?"optionYes":"optionNo",{option:a})))}let r;if(t.type==="yes_no")r=n.filter(a=>a!==Ie).map(a=>i(s.say(a)));else if(t.type==="scale")r=t.labels.map(a=>i(a));else if(t.type==="number"){let a=ve(t);r=a.slice(1).map((u,c)=>{let l=c===a.length-2;return s.say(l?"range":"bin",{low:s.number(a[c]),high:Y(s,t,u)})})}else r=t.options.map(({text:a})=>i(a));return t.decline?[...r,i(s.say("declined"))]:r}function I({items:t,paths:e,channel:n},s,i=r=>X(s,r)){let[{question:r}]=t;if(t.length>1){let a=t.map(c=>Oe(c,s,v)),u=c=>c.flatMap((l,h)=>l===null?[]:[a[h][l]]);return e.map(c=>u(c).join(" · "))}return r.type==="number"&&!r.bins?P(r,n.levels??n.weights.length).map(u=>Y(s,r,u)):Oe(t[0],s,i)}function Ee(t,e,n,s){let[i,r]=[n[0],n.at(-1)];return{low:t.type==="number"?s.number(P(t,e.length)[i]):e[i],high:e[r]}}function J(t,e,n,s){return n[0]===n.at(-1)?e[n[0]]:s.say("range",Ee(t,e,n,s))}var K=({labels:t})=>t.some(e=>/^\p{Nd}/u.test(e));function Ae(t,e,n){if(e===Ie&&t.decline)return n.say("declined");let s=i=>t.options.find(({code:r})=>r===i).text;switch(t.type){case"yes_no":return n.say(e?"yes":"no");case"choice":return s(e);case"multi_choice":return e.length?e.map(i=>v(s(i))).join(", "):n.say("none");case"scale":return K(t)?t.labels[e-1]:n.say("point",{point:n.number(e),label:v(t.labels[e-1])});default:return Y(n,t,e)}}function Ce(t,e,n){let s=H(n?{least:[e]}:{most:[e]});if(!s)return null;let[i]=n?s.least:s.most;return{count:t.number(i),total:t.number(s.total)}}var kt={set:"InSet",combination:"Combination",combinations:"CombinationInSet"},_t={bit:"opposite",drawn:"opposite",range:"outside",table:"far"};function Ne(t,e){let[{question:n}]=t.items,{form:s,chances:i,odds:r,excess:a,miss:u,count:c,...l}=V(t),h=je(t),d=Object.fromEntries(Object.entries(l).map(([g,y])=>[g,e.number(y)]));c&&(d.options=e.number(c));let p=Ce(e,Object.fromEntries(i)[_t[s]]??u,!0),m=i.map(([g,y])=>({name:e.say(`chance.${g}${kt[s]??""}`),chance:y,cases:xt(g,y,d,e)})),f=[e.say(`protection.${s}`,d)];if(B(t)){let g=I(t,e),y=J(n,g,[0,g.length-1],e);f.push(e.say("protection.rounding",{levels:d.levels,points:y}))}return{line:p?e.say(`line.${s}`,{...d,...p}):e.say("line.seldom"),warning:Te(t,e),details:f,chances:m,bounds:[zt(r,a,h,e),e.say("protection.experts",{symbols:S(h)})]}}function xt(t,e,{options:n},s){if(t==="drawn")return s.say("chance.exactly",{count:s.number(1),total:n});let i=ge.includes(t),r=Ce(s,e,i);return r?s.say(i?"chance.atLeast":"chance.atMost",r):s.say(i?"chance.atLeast":"chance.rare",{chance:s.number(N(e)),count:s.number(Math.floor(e*1e12)),total:s.number(1e12)})}function zt(t,e,{epsilon:n,delta:s},i){if(!Number(s))return i.say("protection.odds",{odds:i.number($(t))});let r=i.number(N(e));return i.say("protection.oddsDelta",{odds:i.number($(Math.exp(n))),chance:r})}var je=t=>new O(t.epsilon,A(t)??"0"),S=({epsilon:t,delta:e})=>`ε = ${Number(t)}${Number(e)?`, δ = ${e}`:""}`,St=50,Le=t=>Math.ceil(t.power()*1e3)/10;function k(t){let e=Le(t);return e>=100?"hardly":e>St?"weak":"fair"}function Te(t,e){return k(je(t))==="fair"?null:e.say(t.items.length>1?"line.weakTogether":"line.weak")}function E(t,e){let n=k(t),s=[e.say("meaning.suppose")];return n==="hardly"?s.push(e.say("meaning.hardly")):s.push(e.say("meaning.found",{percent:e.number(Le(t))})),n==="weak"&&s.push(e.say("meaning.weak")),Number(t.delta)&&s.push(Ot(t,e)),s.join(" ")}function Ot({delta:t},e){let s=Math.round(t*1e12),i=10;for(;s*i<1e12;)i*=10;s*i%1e12&&(i*=10);let r=e.number(Math.ceil(s*i/1e12));return e.say("meaning.delta",{delta:t,count:r,total:e.number(i)})}var $e=({items:t})=>new Set(t.map(({question:e})=>e.id));function j(t,e){let[n,s]=$e(t);return s||e.filter(i=>$e(i).has(n)).length>1?null:n}var Me=t=>t.reduce((e,{type:n,options:s})=>e+(n==="multi_choice"?s.length:1),0),$t=20;function qe({survey:t,questions:e},n){let[s,i]=[e.length,t.questions.length],r=s+(t.segments?.length??0),a=n.minutes(Math.max(1,Math.ceil(r*$t/60))),u=Z({survey:t,questions:e})?s===i?"options":"picked":"all";return n.say(`start.${u}`,{picked:n.number(s),total:n.number(i),minutes:a})}var Z=({survey:t,questions:e})=>Me(e)!==Me(t.questions),ee=({survey:{segments:t=[]}},e)=>e.all(t.map(({text:n})=>X(e,n)));function We({parts:t,account:e},n){let s=[E(e,n),n.say("protection.experts",{symbols:S(e)})];return t.length>1?[...s,n.say("meaning.each")]:s}function te(t,e,n){if(t.items.length===1)return null;let s=I(t,n);return C(t,e).points.map(i=>s[i])}function ne(t,e,n){let[{question:s}]=t.items,i=te(t,e,n);if(i)return i.join("; ");let{form:r,points:a,option:u,bit:c,reports:l}=C(t,e);if(r==="drawn")return n.say(c?"report.drawnYes":"report.drawnNo",{option:X(n,s.options[u].text)});if(r==="bit"||r==="single")return I(t,n,d=>d)[a[0]];let h=I(t,n);if(r==="set")return n.say("report.oneOf",{answers:n.either(a.map(d=>h[d]))});if(r==="table"){let d=J(s,h,a,n);return n.say("report.table",{number:n.number(e+1),reports:n.number(l),answer:d})}return a.length===1?n.say("report.near",{answer:h[a[0]]}):n.say("report.between",Ee(s,h,a,n))}function Ue(t,e,n){let{form:s,points:i,bit:r,odds:a,rare:u,...c}=C(t,e),l=H({most:[c.high],least:[c.low]}),h=[];if(l&&c.low>0){let[d,p,m]=[l.most[0],l.least[0],l.total].map(g=>n.number(g)),f={high:d,low:p,total:m};if(s==="drawn")h.push(n.say(r?"why.drawnYes":"why.drawnNo",f));else if(t.items.length>1)h.push(n.say(`why.${s}`,f));else{let g=I(t,n),y=["point","range","table"].includes(s);f.answer=y?J(t.items[0].question,g,i,n):n.either(i.map(x=>g[x])),f.other=g[1-i[0]],h.push(n.say(s==="bit"?"why.bit":"why.others",f))}}if(u){let{excess:d}=V(t),p={odds:n.number($(a)),chance:n.number(N(d))};h.push(n.say(c.low>0?"why.rare":"why.never",p))}else h.push(n.say("why.odds",{odds:n.number($(a))}));return[Te(t,n),...h].filter(Boolean).join(" ")}var Re=12,Mt=t=>t.length<=5&&t.every(e=>e.split(/\s/).every(n=>n.length<=12));function De(t,e,n){let s=t.options.map(({code:r,text:a})=>({value:r,label:w("span",a)})),i=o("strong",{},e.say("section.segmentNote"));return Be(t,s,{texts:e,onChange:n,hint:i,missing:"error.chooseSegment"})}function Fe(t,e,n,s){let i=e?oe(e,n):null,r=t.decline?[{value:"declined",label:o("span",{},n.say("declined"))}]:[],a=(c,l)=>Be(t,[...c,...r],{texts:n,onChange:s,after:i,layout:l,missing:t.decline?"error.chooseOrDecline":"error.choose"}),u=()=>t.options.map(({code:c,text:l})=>({value:c,label:w("span",l)}));switch(t.type){case"yes_no":return a([!0,!1].map(c=>({value:c,label:o("span",{},n.say(c?"yes":"no"))})),"short");case"choice":return a(u());case"scale":return a(t.labels.map((c,l)=>({value:l+1,label:o("span",{},K(t)?null:o("b",{class:"point"},n.number(l+1)," "),w("span",c))})),Mt(t.labels)?"scale":void 0);case"multi_choice":return It(t,u(),{texts:n,onChange:s,after:i});default:return Et(t,{texts:n,onChange:s,after:i})}}function se({id:t,text:e},{role:n,hint:s,controls:i,after:r,parts:a}){let u=[s&&`${t}-hint`,`${t}-error`].filter(Boolean).join(" "),c=o("p",{id:`${t}-error`,class:"error",hidden:!0});return{node:o("fieldset",{id:`${t}-field`,class:"question",part:"question",role:n,"aria-describedby":u,...a},o("legend",{},w("h3",e,{tabindex:"-1"})),s?o("p",{id:`${t}-hint`,class:"hint"},s):null,c,i,r),error:c}}function ie(t,e,n,s){return i=>{e.hidden=!i,e.textContent=i?s.say(...i):"",t.classList.toggle("wrong",!!i);for(let r of n)i?r.setAttribute("aria-invalid","true"):r.removeAttribute("aria-invalid")}}function L(t,e){return o("label",{class:"option",part:"option"},t,e)}function Be(t,e,{texts:n,onChange:s,hint:i,after:r,layout:a,missing:u}){let c=e.map(()=>o("input",{type:"radio",name:`answer-${t.id}`,autocomplete:"off"})),l=e.length>Re?"many":a,h=o("div",{class:`options ${l??""}`.trim()},...e.map(({label:g},y)=>L(c[y],g))),{node:d,error:p}=se(t,{role:"radiogroup",hint:i,controls:h,after:r,parts:{"aria-required":"true"}}),m=ie(d,p,[d],n),f=()=>c.findIndex(g=>g.checked);return d.addEventListener("change",()=>{m(null),s()}),{id:t.id,node:d,read:()=>f()<0?{problem:[u]}:{value:e[f()].value},answered:()=>f()>=0,clear:()=>c.forEach(g=>g.checked=!1),focus:()=>c[Math.max(f(),0)].focus(),complain:m}}function It(t,e,{texts:n,onChange:s,after:i}){let r=e.map(()=>o("input",{type:"checkbox",autocomplete:"off"})),a=o("input",{type:"checkbox",autocomplete:"off"}),u=o("div",{class:e.length>Re?"options many":"options"},...e.map(({label:p},m)=>L(r[m],p)),L(a,o("span",{},n.say("none")))),{node:c,error:l}=se(t,{hint:n.say("hint.multiChoice"),controls:u,after:i}),h=ie(c,l,[...r,a],n);c.addEventListener("change",p=>{p.target===a?r.forEach(m=>m.checked=!1):a.checked=!1,h(null),s()});let d=()=>a.checked||r.some(p=>p.checked);return{id:t.id,node:c,read:()=>d()?{value:e.filter((p,m)=>r[m].checked).map(({value:p})=>p)}:{problem:["error.chooseSome"]},answered:d,clear:()=>[...r,a].forEach(p=>p.checked=!1),focus:()=>r[0].focus(),complain:h}}function Et(t,{texts:e,onChange:n,after:s}){let{id:i,min:r,max:a,unit:u,decline:c}=t,l={low:e.number(r),high:e.number(a),unit:u&&v(u)},h=o("input",{id:`${i}-number`,type:"text",inputmode:r<0?"text":"decimal",autocomplete:"off",spellcheck:"false","aria-required":c?null:"true","aria-describedby":`${i}-error`}),d=c?o("input",{type:"checkbox",autocomplete:"off"}):null,p=o("div",{class:"number"},o("label",{for:`${i}-number`},e.say(u?"hint.numberUnit":"hint.number",l)),o("div",{class:"entry"},h,u?w("span",u,{"aria-hidden":"true",class:"unit"}):null),d?o("div",{class:"options"},L(d,o("span",{},e.say("declined")))):null),{node:m,error:f}=se(t,{controls:p,after:s}),g=ie(m,f,[h],e);h.addEventListener("input",()=>{d&&(d.checked=!1),g(null),n()}),d?.addEventListener("change",()=>{h.value="",g(null),n()});let y=()=>{if(d?.checked)return{value:"declined"};if(!h.value.trim())return{problem:[c?"error.numberOrDecline":"error.numberMissing"]};let x=At(h.value),[ce,at]=x.filter(le=>r<=le&&le<=a);return!x.length||at!==void 0?{problem:["error.notNumber"]}:ce===void 0?{problem:["error.outside",l]}:{value:ce}};return{id:i,node:m,read:y,answered:()=>"value"in y(),clear:()=>{h.value="",d&&(d.checked=!1)},focus:()=>h.focus(),complain:g}}function At(t){let e=t.trim().replace(/[\u0660-\u0669\u06f0-\u06f9]/g,s=>String(s.charCodeAt(0)&15)).replace(/\u2212/g,"-").replace(/\u066b/g,",").replace(/(?<=\d)[\s'\u2019](?=\d{3}(?!\d))/g,""),n=[];return/^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(e)&&n.push(Number(e.replace(",","."))),/^[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*$/.test(e)&&n.push(Number(e.replace(/[.,]/g,""))),n}function oe(t,e,n=null){let{line:s,warning:i,details:r,chances:a,bounds:u}=Ne(t,e),c=a.map(({name:l,chance:h,cases:d})=>o("tr",{},o("th",{scope:"row"},l),o("td",{class:"picture"},ue(h)),o("td",{class:"figure"},d)));return o("div",{class:"protection",part:"protection"},n,i?o("p",{class:"weak"},i):null,o("p",{},s),o("details",{},o("summary",{},e.say("protection.title")),...r.map(l=>o("p",{},l)),o("p",{},e.say("protection.always")),o("table",{class:"chances"},o("tbody",{},...c)),...u.map(l=>o("p",{},l))))}function Ve({client:t,questions:e,values:n,texts:s,onChange:i}){let{survey:r,account:a}=t,u=({id:d,text:p},m,f)=>{let g=s.say("button.changeWhat",{question:p}),y=b(s.say("button.change"),()=>i(d),{class:"link","aria-label":g}),x=[w("h3",p),w("p",m,{class:"answer"}),f];return o("li",{},o("div",{},...x.filter(Boolean)),y)},c=d=>u(d,d.options.find(({code:p})=>p===n[d.id]).text,o("p",{class:"hint weak"},s.say("section.segmentNote"))),l=k(a),h=["id",Z(t)&&"booklet"].filter(Boolean);return[o("p",{class:"hint"},s.say("section.reviewHint")),l==="fair"?null:o("p",{class:"weak"},s.say(`start.${l}`)),o("ul",{class:"answers"},...e.map(d=>u(d,Ae(d,n[d.id],s))),...(r.segments??[]).map(c)),o("details",{},o("summary",{},s.say("section.openly")),o("ul",{},...h.map(d=>o("li",{},s.say(`openly.${d}`)))),re(t,s)),t.persistent?null:o("p",{class:"note"},s.say("status.forgetful"))]}function Pe({parts:t},e){let n=t.filter(s=>j(s,t)===null);return n.map(s=>{let i=new Map(s.items.map(({question:a})=>[a.id,a.text])),r=n.length>1?o("ul",{},...[...i.values()].map(a=>w("li",a))):null;return{ids:new Set(i.keys()),node:oe(s,e,r)}})}function re(t,e){let n=We(t,e).map(s=>o("p",{},s));return o("section",{class:"total"},o("h3",{},e.say("section.total")),...n)}var T=class{#t;#l;#n;#e;#o;#m=null;#r=[];#s=o("progress",{max:1,value:0,"aria-labelledby":"progress-text"});#a=o("span",{id:"progress-text"});#g=o("p",{class:"unseen",role:"status"});#d=o("div",{class:"summary",part:"summary",role:"alert"});#u;#h;#c;constructor({client:e,shownQuestions:n,texts:s,onePage:i,onNext:r,onBack:a}){this.#t=e,this.#l=n,this.#n=s;let{survey:u,questions:c,parts:l}=e,h=()=>this.#_(),d=c.map(f=>{let g=l.find(y=>j(y,l)===f.id);return Fe(f,g,s,h)}),p=(u.segments??[]).map(f=>De(f,s,h));this.#e=[...d,...p],this.#o=i?[this.#e]:[...this.#z(d),...p.length?[p]:[]],this.#u=p.length?o("h2",{class:"openly"},s.say("section.segments")):null,this.#h=Pe(e,s),this.#c=o("button",{type:"submit",part:"button"}),this.progress=o("div",{class:"progress",part:"progress"},this.#s,this.#a);let m=b(s.say("button.back"),a,{class:"quiet"});this.node=o("form",{method:"dialog",autocomplete:"off",novalidate:!0},this.#d,...d.map(({node:f})=>f),...this.#h.map(({node:f})=>f),i?re(e,s):null,this.#u,...p.map(({node:f})=>f),this.#g,o("p",{class:"actions"},this.#c," ",m)),this.node.addEventListener("submit",f=>{f.preventDefault(),this.#f(this.#y())&&r()}),this.show(0)}#z(e){let n=[],s={};return this.#t.questions.forEach(({id:i,show_if:r},a)=>{let u=r&&Object.keys(r)[0],c=s[u]??n.push([])-1;s[i]=c,n[c].push(e[a])}),n}get length(){return this.#o.length}clear(){for(let e of this.#e)e.clear()}get begun(){return this.#e.some(e=>e.answered())}show(e,n=!1){this.#m=e,this.#d.replaceChildren(),this.#_(),this.#g.textContent="";let s=n||e===this.#o.length-1;this.#c.textContent=this.#n.say(s?"button.review":"button.next")}stepOf(e){return this.#o.findIndex(n=>n.some(s=>s.id===e))}firstMissing(){return this.#o.findIndex(e=>e.some(n=>this.#k(n)&&!n.answered()))}focus(e=this.#y()[0].id){this.#e.find(n=>n.id===e).focus()}focusQuestion(){this.#y()[0].node.querySelector("h3").focus()}values(){return Object.fromEntries(this.#e.filter(this.#k,this).map(e=>[e.id,e.read().value]))}#w=new Set;#k({id:e}){return this.#w.has(e)}#y(){return this.#o[this.#m].filter(this.#k,this)}#_(){this.#i();let e=this.#y();for(let s of this.#e)s.node.hidden=!e.includes(s);if(this.#u){let s=(this.#t.survey.segments??[]).map(({id:i})=>i);this.#u.hidden=!e.some(({id:i})=>s.includes(i))}for(let{ids:s,node:i}of this.#h)i.hidden=!e.some(({id:r})=>s.has(r));this.#S(e);let n=([s])=>s.answered()||s.node.hidden;for(let s of this.#r)n(s)&&s[1].remove();this.#r.every(n)&&this.#d.replaceChildren()}#S(e){let n=this.#o.length===1,[s,i]=n?[e.filter(a=>a.answered()).length,e.length]:[this.#m+1,this.#o.length];this.#s.value=s/i;let r={done:this.#n.number(s),total:this.#n.number(i)};this.#a.textContent=this.#n.say(n?"answered":"progress",r)}#i(){let{questions:e,survey:n}=this.#t,s=this.#e.map(u=>[u.id,u.read()]).filter(([,u])=>"value"in u),i=Object.fromEntries(s.map(([u,{value:c}])=>[u,c])),r=new Set(this.#l(e,i)),a=e.flatMap(u=>{let c=!r.has(u);if(this.#w.has(u.id)!==c)return[];if(c){let h=this.#e.find(({id:d})=>d===u.id);h.clear(),h.complain(null)}let l=c?"followUp.hidden":"followUp.shown";return[this.#n.say(l,{question:v(u.text)})]});this.#w=new Set([...r,...n.segments??[]].map(({id:u})=>u)),a.length&&(this.#g.textContent=a.join(" "))}#f(e){let n=e.map(i=>[i,i.read()]),s=n.filter(([,{problem:i}])=>i);for(let[i,{problem:r}]of n)i.complain(r??null);return this.#d.replaceChildren(),s.length?(this.#o.length===1&&this.#p(s),s[0][0].focus(),!1):!0}#p(e){let{survey:n}=this.#t,s=Object.fromEntries([...n.segments??[],...n.questions].map(({id:i,text:r})=>[i,r]));this.#r=e.map(([i])=>{let r=b(s[i.id],()=>i.focus(),{class:"link",dir:"auto"});return[i,o("li",{},r)]}),this.#d.append(o("h2",{},this.#n.say("error.summary")),o("p",{},this.#n.say("error.why")),o("ul",{},...this.#r.map(([,i])=>i)))}};function He({texts:t,heading:e,problem:n,typed:s,onCode:i}){let r=c=>t.say(`invitation.${c}`),a=o("input",{id:"invitation",type:"text",dir:"ltr",autocomplete:"off",autocapitalize:"characters",spellcheck:"false",required:!0,"aria-required":"true","aria-invalid":n?"true":null,"aria-describedby":"invitation-error invitation-hint"});a.value=s??"";let u=o("form",{class:"invitation-form",novalidate:!0,autocomplete:"off"},o("label",{for:"invitation"},r("label")),o("p",{id:"invitation-error",class:"error",role:n?"alert":null},n?r(n):null),o("div",{class:"entry"},a),o("p",{id:"invitation-hint",class:"hint"},r("hint")),o("p",{class:"actions wide"},b(r("go"),null,{type:"submit"})));return u.addEventListener("submit",c=>{c.preventDefault(),i(a.value)}),[e,o("p",{},r("text")),u,o("ul",{class:"reasons"},...Ge(t))]}var Ge=t=>["only","blind"].map(e=>o("li",{},t.say(`invitation.${e}`))),Qe=(t,e)=>o("details",{},o("summary",{},e.say("invitation.why")),o("ul",{class:"reasons"},...Ge(e),o("li",{},e.say("invitation.key")," ",o("code",{dir:"ltr"},t))));function Ye({client:t,texts:e,host:n,language:s,heading:i,actions:r}){let{survey:a,account:u,offline:c,fingerprint:l}=t,h=k(u);return[Ct(a,n.getAttribute("logo")),i,o("p",{class:"hint"},qe(t,e)),a.notice?w("p",a.notice,{class:"notice"}):null,o("div",{class:h==="fair"?"promise":"promise weak-promise"},h==="fair"?Lt(e):null,o("p",{},e.say(`start.${h}`)),a.segments?.length?o("p",{class:"hint"},e.say("start.openly",{questions:ee(t,e)})):null),l?Qe(l,e):null,c?o("p",{class:"note"},e.say("offline")):null,n.preview?o("p",{class:"note"},e.say("preview.note")):null,n.hasAttribute("kiosk")?o("p",{class:"note"},e.say("kiosk.note")):null,o("p",{class:"actions wide"},b(e.say("start.go"),r.start)),o("p",{class:"more"},b(e.say("start.how"),r.how,{class:"link"})," ",b(e.say("start.who"),r.who,{class:"link"})),Nt(t.languages,s,e,r.speak)]}function Ct({asked_by:t,contact:e},n){if(!t&&!e&&!n)return null;let s=o("span",{},t?w("b",t):null,t&&e?" · ":null);return e&&s.append(w("span",e)),o("p",{class:"who-asks"},n?o("img",{src:n,alt:""}):null,s)}function Nt(t,e,n,s){if(t.length<2)return null;let i=o("select",{"aria-label":n.say("start.language"),autocomplete:"off"},...t.map(r=>o("option",{value:r,lang:r,dir:M(r),selected:r===e},jt(r))));return i.addEventListener("change",()=>s(i.value)),o("p",{class:"languages"},i)}function jt(t){try{let e=new Intl.DisplayNames([t],{type:"language"}).of(t);return e.charAt(0).toLocaleUpperCase(t)+e.slice(1)}catch{return t}}var Lt=t=>o("div",{class:"coin-picture","aria-hidden":"true"},...["answer","coin","sent"].flatMap((e,n)=>[n?_("0 0 24 24",[["path",{d:"M4 12h14m-5-5 5 5-5 5"}]],"arrow"):null,o("span",{class:e},t.say(`start.${e}`))]));function Xe({client:t,texts:e,pinned:n}){let{survey:s,account:i,digest:r}=t,a=k(i);return[o("table",{class:"who",role:"table"},o("tbody",{role:"rowgroup"},...[["team",a],["thief",a],["network","networkSees"],["device","deviceSees"],["website","websiteSees"]].map(([c,l])=>o("tr",{role:"row"},o("th",{role:"rowheader",scope:"row"},e.say(`who.${c}`)),o("td",{role:"cell"},e.say(`who.${l}`)))))),s.segments?.length?o("p",{class:"weak"},e.say("who.openly",{questions:ee(t,e)})):null,o("p",{},E(i,e)),o("p",{class:"hint"},e.say("who.checked",{symbols:S(i)})),o("p",{class:"hint"},e.say("who.kept")),o("details",{},o("summary",{},e.say("who.cheat")),o("p",{},e.say("who.cheatText")),o("p",{},e.say("who.digest")),o("p",{},o("code",{class:"digest",dir:"ltr"},r)),o("p",{},e.say(n?"who.pinned":"who.unpinned")))]}function Je(){let[t,e]=location.href.split(/(?<=#[0-9a-f]{64})(?=\.)/i);e&&history.replaceState(history.state,"",t)}var q=class{#t=`${crypto.getRandomValues(new Uint32Array(1))[0]}`;#l;#n=new AbortController;constructor(e){this.#l=e,addEventListener("popstate",()=>e(this.current),{signal:this.#n.signal})}stop(){this.#n.abort()}get current(){return history.state?.deniable?.[this.#t]??{screen:"start",depth:0}}open(e,n=!1){let s={screen:e,change:n,depth:this.current.depth+1},i={...history.state?.deniable,[this.#t]:s};history.pushState({...history.state,deniable:i},""),this.#l(s)}back(){history.back()}end(){this.stop();let{depth:e}=this.current;e&&history.go(-e)}};var Tt=`
:host {
  --_ink: var(--deniable-ink, #1b1f24);
  --_muted: var(--deniable-muted, #57606a);
  --_paper: var(--deniable-paper, #ffffff);
  --_wash: var(--deniable-wash, #f6f7f9);
  --_line: var(--deniable-line, #8c959f);
  --_rule: var(--deniable-rule, #d0d7de);
  --_accent: var(--deniable-accent, #0b5f6b);
  --_on-accent: var(--deniable-on-accent, #ffffff);
  --_accent-soft: var(--deniable-accent-soft, #d6ecee);
  --_accent-wash: var(--deniable-accent-wash, #eef5f5);
  --_warn: var(--deniable-warn, #8a4b00);
  --_bad: var(--deniable-bad, #a40e26);
  --_radius: var(--deniable-radius, 0.5rem);
  display: block; container-type: inline-size; background: var(--_paper); color: var(--_ink);
  color-scheme: light;
  font-family: var(--deniable-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  font-size: 1rem; line-height: 1.5; text-align: start;
}
@media (prefers-color-scheme: dark) {
  :host {
    --_ink: var(--deniable-ink, #e8ecf0);
    --_muted: var(--deniable-muted, #a3adb8);
    --_paper: var(--deniable-paper, #14181d);
    --_wash: var(--deniable-wash, #1c2229);
    --_line: var(--deniable-line, #6b7682);
    --_rule: var(--deniable-rule, #38414b);
    --_accent: var(--deniable-accent, #6fc9d4);
    --_on-accent: var(--deniable-on-accent, #0b1a1d);
    --_accent-soft: var(--deniable-accent-soft, #1f444a);
    --_accent-wash: var(--deniable-accent-wash, #182a2d);
    --_warn: var(--deniable-warn, #f0b35c);
    --_bad: var(--deniable-bad, #ff8d97);
    color-scheme: dark;
  }
}
:host([hidden]) { display: none; }
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }

/* A survey's words may be longer than any screen is wide, and a letter may carry more accents than fit beside it. */
.view { overflow-wrap: anywhere; overflow-x: clip; margin-inline: -0.5rem; padding-inline: 0.5rem; } /* room for focus */
h2, h3, p, ul, ol, dl, dd, fieldset, legend, table { margin: 0; padding: 0; }
h2 { font-size: 1.3125rem; line-height: 1.3; margin-block: 2rem 0.5rem; }
h2.survey-title { font-size: 1.6875rem; line-height: 1.2; margin-block: 1.25rem 0.25rem; }
h2.running-title { font-size: 0.9375rem; font-weight: 600; color: var(--_muted); margin-block: 0; }
.view > h2:first-child, [role="alert"] > h2:first-child { margin-block-start: 0; }
h3 { font-size: 1.0625rem; line-height: 1.4; }
p { margin-block: 0.5rem; }
ul { padding-inline-start: 1.25rem; }
ol { padding-inline-start: 1.625rem; }
.hint { color: var(--_muted); }
.notice, .closing { white-space: pre-line; }
.who-asks { display: flex; align-items: center; gap: 0.75rem; margin: 0; color: var(--_muted); font-size: 0.9375rem; }
.who-asks img { flex: none; block-size: 2.5rem; max-inline-size: 8rem; object-fit: contain; }
.promise, .closing { padding: 1rem; border-radius: var(--deniable-radius, 1rem); background: var(--_accent-wash); margin-block: 1rem; }
.promise > p { margin-block: 0; }
.promise > p + p { margin-block-start: 0.5rem; }
.weak-promise { border: 2px solid var(--_warn); background: none; }
.coin-picture, .faces { display: flex; align-items: center; justify-content: space-between; gap: 0.25rem; }
.coin-picture {
  margin-block-end: 0.75rem; font-size: 0.75rem; line-height: 1.15; color: var(--_accent); overflow-wrap: normal;
}
.coin-picture > span {
  display: grid; place-items: center; min-block-size: 4.5rem; inline-size: 4.5rem; flex: none; text-align: center;
  font-weight: 600; border: 3px solid currentcolor; border-radius: 50%;
}
.coin-picture > .sent {
  inline-size: auto; flex: 0 1 7rem; border: 2px dashed var(--_line); border-radius: 0.75rem; color: var(--_muted);
}
.arrow { flex: none; inline-size: 1.5rem; fill: none; stroke: var(--_line); stroke-width: 2; }
.view[dir="rtl"] :is(.arrow, .bar, .people, .scale) { transform: scaleX(-1); }
.more { display: flex; flex-direction: column; align-items: center; margin-block: 0; }
.more button, .languages { text-align: center; }
select {
  font: inherit; min-block-size: 2.75rem; padding: 0.375rem 0.75rem; color: var(--_ink); background: var(--_paper);
  border: 1px solid var(--_line); border-radius: var(--_radius);
}
table.who { inline-size: 100%; border-collapse: collapse; }
.who th, .who td {
  padding-block: 0.625rem; border-block-end: 1px solid var(--_rule); text-align: start; vertical-align: top;
  font-weight: 400;
}
.who td { inline-size: 48%; padding-inline-start: 0.75rem; font-weight: 600; color: var(--_accent); }
.digest { overflow-wrap: anywhere; }
.try { margin-block: 1.25rem; padding: 1rem; border: 1px solid var(--_rule); border-radius: var(--deniable-radius, 1rem); }
.try fieldset { border: 0; min-inline-size: 0; }
.try .options { clear: both; }
.try h3 { margin-block-end: 0.5rem; }
.try input[type="range"] { inline-size: 100%; accent-color: var(--_accent); min-block-size: 2.75rem; margin: 0; }
.faces { margin-block: 0.75rem; }
.face {
  display: grid; place-items: center; flex: none; overflow-wrap: normal; inline-size: 4.75rem; block-size: 4.75rem; border-radius: 50%; text-align: center;
  border: 3px solid var(--_accent); color: var(--_accent); font-weight: 600; font-size: 0.9375rem;
}
@container (max-inline-size: 20rem) {
  .face { inline-size: 4rem; block-size: 4rem; font-size: 0.875rem; }
}
/* A phone at 200% zoom. */
@container (max-inline-size: 15rem) {
  .faces, .coin-picture, .answers > li { flex-direction: column; }
  .coin-picture > .sent { flex: none; padding-inline: 0.5rem; }
  .view .faces .arrow, .view .coin-picture .arrow { transform: rotate(90deg); }
  .view .answers > li { gap: 0; }
  .view .who, .view .who :is(tbody, tr, th, td) { display: block; inline-size: auto; padding-inline: 0; }
  .view .who th { padding-block-end: 0; border: 0; }
}
.face.sent { border-radius: 0.75rem; border-style: dashed; }
.face.idle { opacity: 0.45; }
.face.thrown { animation: throw 0.5s; }
@keyframes throw { 50% { transform: rotateY(90deg); } }
.result { min-block-size: 4.5em; }
.people { fill: var(--_rule); inline-size: 100%; }
.people .yes { fill: var(--_accent); }
.scale { inline-size: 100%; overflow: visible; }
.scale .line { stroke: var(--_line); stroke-width: 2; }
.scale .truth { stroke: var(--_ink); stroke-width: 3; }
.scale .said { fill: var(--_paper); stroke: var(--_muted); stroke-width: 3; }
.scale .estimate { fill: var(--_accent); }
.gone { display: none; }
.mark { font-size: 3.25rem; line-height: 1; color: var(--_accent); text-align: center; }
.thanks > h2 { text-align: center; font-size: 1.6875rem; margin-block-start: 0.5rem; }
.thanks > .status.good { text-align: center; background: none; border: 0; color: var(--_muted); padding: 0; }
.thanks summary, .thanks .actions { display: flex; justify-content: center; }
h2.openly { color: var(--_warn); }
/* A text in another direction than the page's runs its own way, and still stands on the page's side. */
[dir="auto"] { text-align: -webkit-match-parent; text-align: match-parent; }
.note, .summary:not(:empty), .total, .status:not(:empty), .message [role="alert"] {
  padding: 0.75rem 1rem; border-radius: var(--_radius); background: var(--_wash);
  border: 1px solid var(--_rule); border-inline-start: 4px solid var(--_line);
}
.summary ul { list-style: none; padding: 0; }
.total { margin-block-start: 2rem; }
.total > :first-child { margin-block: 0 0.25rem; font-size: 1.0625rem; }
.summary:not(:empty), .status.bad, .message [role="alert"] { border-inline-start-color: var(--_bad); }
.status.good { border-inline-start-color: var(--_accent); }
.status.waiting { border-inline-start-color: var(--_warn); }

:focus-visible, h2:focus { outline: 3px solid var(--_accent); outline-offset: 2px; border-radius: 2px; }
h2:focus:not(:focus-visible), [role="alert"] > h2:focus { outline: none; } /* an alert has a frame of its own */
/* What gets the focus must not lie below the progress line. */
input, button, summary, fieldset, h2 { scroll-margin-block: 5.5rem 2rem; }

.progress {
  position: sticky; inset-block-start: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center;
  gap: 0.25rem 1rem; padding-block: 0.625rem; background: var(--_paper);
  border-block-end: 1px solid var(--_rule); font-variant-numeric: tabular-nums;
}
progress {
  flex: 1 1 8rem; block-size: 0.5rem; border: 1px solid var(--_line); border-radius: 1rem; overflow: hidden;
  appearance: none; background: var(--_paper); color: var(--_accent);
}
progress::-webkit-progress-bar { background: var(--_paper); }
progress::-webkit-progress-value { background: var(--_accent); transition: inline-size 0.2s; }
progress::-moz-progress-bar { background: var(--_accent); }

/* Browsers let a fieldset grow with its longest word unless its least size is set. */
fieldset.question { min-inline-size: 0; margin-block: 1.5rem; padding: 0; border: 0; }
fieldset.question.wrong { padding-inline-start: 1rem; border-inline-start: 4px solid var(--_bad); }
/* Afloat, or the fieldset's border would start beside the legend's middle. */
legend { float: inline-start; inline-size: 100%; padding-block-end: 0.75rem; }
.question h3 { font-size: 1.375rem; line-height: 1.3; }
.question > :not(legend) { clear: both; }
.question > .hint, .error { margin-block: 0 0.5rem; }
.error { color: var(--_bad); font-weight: 600; }
.options { display: grid; gap: 0.5rem; margin-block: 0 0.625rem; }
.option {
  display: flex; align-items: flex-start; gap: 0.75rem; min-block-size: 3.25rem; min-inline-size: 0;
  padding: 0.8125rem 1rem; border: 1px solid var(--_line); border-radius: var(--deniable-radius, 0.875rem); cursor: pointer;
}
.option > span { min-inline-size: 0; }
.option:has(:checked) {
  background: var(--_accent-soft); border-color: var(--_accent); box-shadow: inset 0 0 0 1px var(--_accent);
}
.option:has(:focus-visible), .wrong .option:has(:focus) { outline: 3px solid var(--_accent); outline-offset: 2px; }
.option input {
  flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin-block: 0.125rem; margin-inline: 0;
  accent-color: var(--_accent);
}
/* Its whole label has the outline. */
.option input:focus-visible { outline: none; }
b.point { font-variant-numeric: tabular-nums; margin-inline-end: 0.25rem; }
@container (min-inline-size: 30rem) {
  .options.short { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
  .options.many { grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); }
}
@container (min-inline-size: 40rem) {
  .options.scale { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
  .options.scale .option { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 0.5rem; align-content: start; }
  .options.scale .option > span { display: contents; }
  .options.scale .option > span > span { grid-column: 1 / -1; }
}
.entry { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin-block: 0.375rem 0.625rem; }
.entry input {
  font: inherit; inline-size: 12rem; max-inline-size: 100%; min-block-size: 2.75rem; padding: 0.5rem 0.75rem;
  color: var(--_ink); background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius);
}
.entry input[aria-invalid] { border-color: var(--_bad); box-shadow: inset 0 0 0 1px var(--_bad); }
.invitation label { font-weight: 600; }
.invitation .entry input { inline-size: 100%; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.reasons { padding-inline-start: 1.25rem; margin-block: 1.5rem 0; color: var(--_muted); }
.reasons code { white-space: nowrap; }
details > .reasons { margin-block-start: 0.25rem; }
.unit { color: var(--_muted); min-inline-size: 0; }
.number > label { display: block; color: var(--_muted); }

.protection > details { margin-block-start: -0.75rem; } /* "How?" is a large target around a short word */
.protection { font-size: 0.9375rem; color: var(--_muted); }
.weak, .hint strong { color: var(--_warn); font-weight: 600; }
summary {
  display: inline-flex; align-items: center; min-block-size: 2.75rem; color: var(--_accent); cursor: pointer;
  text-decoration: underline; text-underline-offset: 0.2em;
}
details[open] { padding-block-end: 0.5rem; border-block-end: 1px solid var(--_rule); }
.chances { inline-size: 100%; max-inline-size: 40rem; border-collapse: collapse; }
.chances th { inline-size: 40%; text-align: start; font-weight: 400; }
.chances th, .chances td { padding-block: 0.25rem; padding-inline-end: 0.75rem; vertical-align: middle; }
.chances .picture { inline-size: 22%; }
@container (min-inline-size: 30rem) {
  .chances .picture { inline-size: 30%; }
  .figure { white-space: nowrap; }
}
.figure { font-variant-numeric: tabular-nums; color: var(--_ink); }
.bar { display: block; inline-size: 100%; block-size: 0.625rem; }
.bar-rest { fill: var(--_rule); }
.bar-share { fill: var(--_accent); }

.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin-block: 1.5rem 0.5rem; }
.form .actions { flex-direction: row-reverse; justify-content: space-between; }
.wide button { flex: 1; }
button {
  font: inherit; font-weight: 600; min-block-size: 3.25rem; padding: 0.5rem 1.5rem; color: var(--_on-accent);
  background: var(--_accent); border: 1px solid var(--_accent); border-radius: var(--deniable-radius, 0.875rem); cursor: pointer;
}
button:disabled { opacity: 0.6; cursor: progress; }
button.quiet { color: var(--_accent); background: var(--_paper); }
button.link {
  min-block-size: 2.75rem; padding: 0.25rem 0; color: var(--_accent); background: none; border-color: transparent; font-weight: 400;
  text-align: start; text-decoration: underline; text-underline-offset: 0.2em;
}
/* Not where a finger leaves it behind, nor on paper: an option would look as if it was chosen. */
@media screen and (hover: hover) {
  .option:not(:has(:checked)):hover { background: var(--_wash); }
  button:hover { box-shadow: inset 0 0 0 2px var(--_on-accent); }
  button.quiet:hover { box-shadow: inset 0 0 0 1px var(--_accent); }
  button.link:hover { box-shadow: none; text-decoration-thickness: 2px; }
}

.answers { list-style: none; padding: 0; margin-block: 1rem; border-block-start: 1px solid var(--_rule); }
.answers > li {
  display: flex; justify-content: space-between; gap: 1rem; padding-block: 0.625rem;
  border-block-end: 1px solid var(--_rule);
}
.answers > li > div { min-inline-size: 0; }
.answers h3 { font-weight: 400; font-size: 1rem; }
.answers .answer { font-size: 1.125rem; font-weight: 600; margin-block: 0.125rem; }
.answers button { flex: none; white-space: nowrap; }
.answers .hint { font-size: 0.9375rem; margin-block: 0.25rem 0; }

table.receipt { inline-size: 100%; border-collapse: collapse; margin-block: 1rem; }
.receipt th, .receipt td {
  padding: 0.75rem 0.875rem 0.75rem 0; padding-inline: 0 0.875rem; text-align: start; vertical-align: top;
  border-block-end: 1px solid var(--_rule);
}
.receipt thead th {
  border-block-end: 2px solid var(--_line); color: var(--_muted); font-weight: 600; overflow-wrap: break-word;
}
.receipt tbody th { font-weight: 400; }
.receipt td.left { font-weight: 600; }
.receipt li + li { margin-block-start: 0.25rem; }
.receipt td.why { color: var(--_muted); }
.raw { display: block; font-weight: 400; color: var(--_muted); }
.cell-label { display: none; }
code {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875rem;
  overflow-wrap: anywhere;
}
.facts dt { color: var(--_muted); margin-block-start: 0.5rem; }
@container (min-inline-size: 40rem) {
  .receipt th.question { inline-size: 28%; }
  .receipt th.left { inline-size: 32%; }
}
@container (max-inline-size: 39.99rem) {
  .receipt thead { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
  .receipt, .receipt tbody, .receipt tr, .receipt tbody th, .receipt td { display: block; inline-size: auto; }
  .receipt tr { padding-block: 0.75rem; border-block-end: 1px solid var(--_rule); }
  .receipt tbody th, .receipt td { padding: 0.125rem 0; border: 0; }
  .receipt tbody th { font-weight: 600; }
  .cell-label {
    display: block; margin-block-start: 0.375rem; font-size: 0.875rem; font-weight: 400; color: var(--_muted);
  }
}

@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after {
    transition: none !important; animation: none !important; scroll-behavior: auto !important;
  }
}
@media (forced-colors: active) {
  .option:has(:checked) { outline: 2px solid Highlight; outline-offset: -2px; }
  .option:has(:focus-visible) { outline: 3px solid Highlight; outline-offset: 2px; }
  .bar-rest { fill: Canvas; stroke: CanvasText; }
  .bar-share { fill: CanvasText; }
  progress, progress::-webkit-progress-value { forced-color-adjust: none; }
  progress { border-color: CanvasText; background: Canvas; }
  progress::-webkit-progress-bar { background: Canvas; }
  progress::-webkit-progress-value { background: Highlight; }
}
/* True answers stay off paper: a print-out outlives the page. */
@media print {
  .progress, .actions, .answers, .try, .unseen { display: none !important; }
  /* Which questions were shown depends on the answers: on paper all of them are. */
  .form .question[hidden], .form .openly[hidden] { display: block !important; }
  .form input { visibility: hidden; }
  .option:has(:checked) { background: none; border-color: var(--_line); box-shadow: none; outline: none; }
  .receipt tr { break-inside: avoid; }
}
`,W;function Ke(){return W||(W=new CSSStyleSheet,W.replaceSync(Tt)),W}function Ze(t,e){let n=s=>s.toLowerCase().split("-")[0];for(let s of t){let i=e.filter(r=>n(r)===n(s));if(i[0])return i.find(r=>r.toLowerCase()===s.toLowerCase())??i[0]}return e[0]}var qt=["question","left","why"];function st({client:t,receipt:e,texts:n}){let{survey:s,parts:i,account:r}=t,a=b(n.say("button.save"),()=>Wt(t,e,n),{class:"quiet"}),u=b(n.say("button.print"),()=>window.print(),{class:"quiet"}),c=[...i.map((d,p)=>{let m=e.reports[p],f=t.questions.filter(({id:g})=>d.items.some(({question:y})=>y.id===g));return tt(n,{question:et(f.map(({text:g})=>g)),left:nt(et(te(d,m,n)??[ne(d,m,n)],"ul"),n.say("receipt.raw",{report:m})),why:Ue(d,m,n)})}),...(s.segments??[]).map(d=>{let p=e.segments[d.id],{text:m}=d.options.find(f=>f.code===p);return tt(n,{question:w("span",d.text),left:nt(w("span",m),n.say("receipt.code",{code:p})),why:n.say("receipt.openly")})})],l=k(r)==="fair",h={id:e.id,digest:e.digest,spent:S(r)};return[o("p",{class:l?"":"weak"},n.say(l?"receipt.calm":"receipt.weak")),o("table",{class:"receipt",part:"receipt",role:"table"},o("thead",{role:"rowgroup"},o("tr",{role:"row"},...qt.map(d=>o("th",{role:"columnheader",scope:"col",class:d},n.say(`receipt.${d}`))))),o("tbody",{role:"rowgroup"},...c)),o("p",{},E(r,n)),o("dl",{class:"facts"},...Object.entries(h).flatMap(([d,p])=>[o("dt",{},n.say(`receipt.${d}`)),o("dd",{},o("code",{dir:"ltr"},p))])),o("p",{class:"hint"},n.say("receipt.keep")),o("p",{class:"actions"},a," ",u)]}var et=(t,e="ol")=>t.length>1?o(e,{},...t.map(n=>w("li",n))):w("span",t[0]);function tt(t,e){return o("tr",{role:"row"},...Object.entries(e).map(([n,s])=>{let i=n==="question",r=i?null:o("span",{class:"cell-label","aria-hidden":"true"},t.say(`receipt.${n}`)),a=o("div",{},s);return o(i?"th":"td",{role:i?"rowheader":"cell",scope:i?"row":null,class:n},r,a)}))}var nt=(t,e)=>o("div",{},t,o("code",{class:"raw"},e));function Wt(t,e,n){let{survey:s,parts:i}=t,r={about:n.say(e.status==="preview"?"preview.title":"receipt.file"),survey:s.id,title:s.title,id:e.id,digest:e.digest,epsilon:e.epsilon,delta:e.delta,booklet:e.booklet,reports:e.reports,segments:e.segments,in_words:i.map((c,l)=>({questions:c.questions,sent:ne(c,e.reports[l],n).replace(/[\u2068\u2069]/g,"")}))},a=URL.createObjectURL(new Blob([`${JSON.stringify(r,null,2)}
`],{type:"application/json"}));o("a",{href:a,download:`deniable-receipt-${s.id}.json`}).click(),setTimeout(()=>URL.revokeObjectURL(a),6e4)}function Ut({status:t,refused:e,reached:n},{persistent:s},i){if(t==="preview")return["preview",i.say("preview.title"),i.say("preview.text")];if(e)return["bad",i.say("failure.refused.title"),i.say("status.refused",e)];if(t==="expired")return["bad",i.say("failure.expired.title"),i.say("failure.expired.text")];if(t==="delivered")return["good",i.say("status.thanks"),i.say("status.thanksText")];let r=i.say(n?"status.waitingServer":"status.waiting"),a=i.say(s?"status.comeBack":"status.stay");return["waiting",i.say("status.waitingTitle"),`${r} ${a}`]}function it({client:t,receipt:e,texts:n,before:s,heading:i,actions:r,isShown:a,onSettled:u}){let c=o("p",{role:"status"}),l=o("div",{class:"mark","aria-hidden":"true"}),h=()=>{if(!a())return clearInterval(d);let[m,f,g]=Ut(e,t,n);i.textContent!==f&&(i.textContent=f),c.textContent!==g&&(c.textContent=g),c.className=`status ${m}`,l.textContent=m==="good"?"✓":"",m!=="waiting"&&(clearInterval(d),u())},d=setInterval(h,1e3);h(),e.settled?.then(h);let{closing:p}=t.survey;return[l,i,s?o("p",{},n.say("status.before")):null,c,p?w("p",p,{class:"closing"}):null,s?null:Rt(t,e,n),o("p",{class:"actions"},...r)]}function Rt(t,e,n){try{let s=o("summary",{},n.say("button.see"));return o("details",{class:"what-was-sent"},s,...st({client:t,receipt:e,texts:n}))}catch(s){return console.error(s),null}}var U=new WeakMap,Dt=6e4;function Pn(t,e){U.get(t)?.stop();let n=new ae(t,e);U.set(t,n),n.load()}function Hn(t){U.get(t)?.stop(),U.delete(t)}function ot(t){let e=t.getAttribute("src")??"";if(e.includes("#")||!URL.canParse(e,document.baseURI))return e;let{origin:n,pathname:s}=new URL(e,document.baseURI);return n!==location.origin||s!==location.pathname?e:e+/#.*|$/s.exec(location.href)[0]}function Ft(t,e){if(e.reason===void 0)return void console.error(e);if(!["address","unreachable"].includes(e.reason))return;let n=t.hasAttribute("src")?e.message:"the attribute src is missing";console.error(`<deniable-survey>: ${n}. What it should look like: <deniable-survey src="https://survey.example.org/s/campus-health">, with your server and your survey.`,t)}var rt=t=>t.preventDefault(),ae=class{#t;#l;#n;#e;#o="en";#m;#r=null;#s=null;#a=null;#g=null;#d=!1;#u=null;#h=null;#c=0;#z=!1;#w=new AbortController;constructor(e,n){this.#t=e,this.#l=n,this.#n=e.shadowRoot,this.#n.adoptedStyleSheets=[Ke()];let{signal:s}=this.#w;window.addEventListener("pagehide",()=>this.#N(),{signal:s}),window.addEventListener("pageshow",i=>i.persisted&&this.#N(),{signal:s}),window.addEventListener("hashchange",()=>this.#k(),{signal:s});for(let i of["input","change"])this.#n.addEventListener(i,()=>this.#M(),{signal:s})}stop(){this.#c++,this.#w.abort(),this.#C(),this.#n.replaceChildren()}#k(){let e=ot(this.#t),n=this.#r?.digest,[,s=n]=e.split("#");e!==this.#m&&!(n&&s.toLowerCase()===n)&&this.load()}async load(e){let n=++this.#c,s=this.#t,i=this.#n.activeElement!==null;this.#C();let r=await Q(this.#_([])[0],s.texts).catch(()=>null);if(n===this.#c){if(!r)return void this.#l.fail();[this.#e,this.#o]=[r,r.language],this.#p("message",o("p",{role:"status"},this.#i("loading"))),this.#m=ot(s);try{let a=await this.#y(e),u=s.hasAttribute("kiosk")&&a.receipt&&a.receipt.status!=="waiting";if(u&&await a.forget(),n!==this.#c)return;if(u)return void this.load();Je(),this.#r=a;let{languages:c}=a,l=Ze(this.#_(c),c)??r.language;if(await this.#S(l,s.getAttribute("lang")||l),n!==this.#c)return;let{survey:h,digest:d,closed:p,opens:m,receipt:f}=a;this.#f("ready",{survey:h,digest:d,closed:p,opens:m,receipt:f}),f?this.#x(f,{before:!0}):p?this.#O("closed"):m?this.#O("not_open",{time:this.#e.time(m)}):this.#j(),i&&!f&&this.#b()}catch(a){if(n!==this.#c||a.place==="invitation"&&this.#R(a.reason,e))return;Ft(s,a),this.#E(a,"tampered")}}}#y(e){let n=this.#t;if(n.preview)return this.#l.openPreview(n.preview);let s=n.budget??n.getAttribute("budget")?.split(" ");return this.#l.Client.load(this.#m,{budget:s,invitation:e})}#_(e){let n=this.#t.getAttribute("lang");return n?[n]:e.length?navigator.languages:[this.#t.closest("[lang]")?.lang||"en"]}async#S(e,n=e){this.#o=this.#r.useLanguage(e)??e,this.#e=await Q(n,this.#t.texts);let{title:s}=this.#r.survey;this.#f("language",{language:this.#o,direction:M(this.#o),title:s})}#i(e,n){return this.#e.say(e,n)}#f(e,n){this.#t.dispatchEvent(new CustomEvent(`deniable-${e}`,{detail:n,bubbles:!0,composed:!0}))}#p(e,...n){let{language:s}=this.#e;this.#h=o("div",{class:`view ${e}`,part:e,lang:s,dir:M(s)},...n);for(let i of this.#h.querySelectorAll("[dir=auto]"))i.lang=this.#o;this.#n.replaceChildren(this.#h)}#v(e){return o("h2",{tabindex:"-1"},e)}#A(e){return w("h2",this.#r.survey.title,{class:e,tabindex:"-1"})}#b(){this.#h.querySelector("h2").focus({preventScroll:!0}),this.#t.scrollIntoView({block:"start"})}#C(){this.#a?.stop(),this.#a=null,this.#$(),this.#u=this.#r=null,this.#d=!1}#$(){this.#s?.clear(),this.#s=null,this.#M()}#M(){let e=(this.#s?.begun&&!this.#t.preview)??!1;e!==this.#z&&(this.#z=e,e?window.addEventListener("beforeunload",rt):window.removeEventListener("beforeunload",rt))}#N(){this.#s?.clear(),this.#u?this.#x(this.#u,{before:!0}):this.#d?this.#p("message",o("p",{role:"status"},this.#i("status.sending"))):this.#s&&this.#j()}#R(e,n){let s=e==="missing"?null:e;if(s&&!this.#e.has(`invitation.${s}`))return!1;let i=this.#v(this.#i("invitation.title")),r=a=>this.load(a);return this.#p("invitation",...He({texts:this.#e,heading:i,problem:s,typed:n,onCode:r})),s&&this.#f("failed",{reason:`invitation-${s}`}),n!==void 0&&this.#h.querySelector("input").focus(),!0}#j(){this.#a?.stop(),this.#a=new q(e=>this.#F(e)),this.#L(),this.#I()}#L(){this.#s=new T({client:this.#r,shownQuestions:this.#l.shownQuestions,texts:this.#e,onePage:this.#t.hasAttribute("one-page"),onNext:()=>this.#D(),onBack:()=>this.#a.back()}),this.#M()}#D(){let{screen:e,change:n}=this.#a.current;n?this.#a.back():this.#a.open(e+1<this.#s.length?e+1:"review")}#F({screen:e,change:n}){!this.#s||this.#d||(e==="start"?this.#I():e==="how"?this.#T("how.title",pe(this.#e)):e==="who"?this.#T("who.title",this.#V()):e==="review"?this.#q():this.#P(e,n),typeof e=="number"?this.#B():this.#b())}#B(){this.#t.scrollIntoView({block:"start"}),this.#g?this.#s.focus(this.#g):this.#s.focusQuestion()}#I(){let e=i=>()=>this.#a.open(i),n={start:e(0),how:e("how"),who:e("who"),speak:async i=>{await this.#S(i),this.#s.clear(),this.#L(),this.#I(),this.#h.querySelector("select").focus()}},s=this.#A("survey-title");this.#p("start",...Ye({client:this.#r,texts:this.#e,host:this.#t,language:this.#o,heading:s,actions:n}))}#V(){let e=this.#m.split("#")[1]?.toLowerCase().startsWith(this.#r.digest);return Xe({client:this.#r,texts:this.#e,pinned:e})}#T(e,n){let s=b(this.#i("button.close"),()=>this.#a.back());this.#p("more-view",this.#v(this.#i(e)),...n,o("p",{class:"actions wide"},s))}#P(e,n){this.#s.show(e,n),this.#p("form",this.#A("running-title"),this.#s.progress,this.#s.node)}#q(){let e=this.#s.firstMissing();if(e>=0)return void this.#a.open(e);let{questions:n}=this.#r,s=this.#s.values(),i=n.filter(({id:l})=>Object.hasOwn(s,l)),r=l=>{this.#g=l,this.#a.open(this.#s.stepOf(l),!0),this.#g=null},a=o("p",{class:"status",role:"status"}),u=b(this.#i("button.send"),()=>this.#H(a)),c=b(this.#i("button.back"),()=>this.#a.back(),{class:"quiet"});this.#p("review",this.#v(this.#i("section.review")),...Ve({client:this.#r,questions:i,values:s,texts:this.#e,onChange:r}),a,o("p",{class:"actions"},u," ",c))}async#H(e){let[n,s]=[this.#r,this.#c];if(this.#d||!this.#s)return;let i=this.#s.values(),r=c=>Object.fromEntries(c.filter(({id:l})=>Object.hasOwn(i,l)).map(({id:l})=>[l,i[l]]));this.#d=!0;for(let c of this.#h.querySelectorAll("button"))c.disabled=!0;e.textContent=this.#i("status.sending");let a,u;try{a=await n.submit(r(n.questions),r(n.survey.segments??[]))}catch(c){u=c}s===this.#c&&(this.#d=!1,a?(a.status!=="preview"&&this.#f("submitted",{receipt:a}),this.#x(a),this.#b()):u.reason==="already_answered"&&u.receipt?(this.#f("failed",{reason:u.reason}),this.#x(u.receipt,{before:!0}),this.#b()):this.#E(u,"unexpected","unsure"))}#x(e,{before:n=!1}={}){this.#$(),this.#a?.end(),this.#a=null,this.#u=e;let{status:s}=e,i=s==="preview";if(n&&=!i,n&&s!=="waiting")return this.#O(["refused","expired"].includes(s)?s:"already_answered");let r=this.#c,a=this.#t.hasAttribute("kiosk"),u=()=>r===this.#c&&this.#u===e,c=()=>u()&&this.load(),l=b(this.#i("kiosk.next"),c,{disabled:!0}),h=o("span",{class:"hint"},this.#i("kiosk.wait")),d=()=>{l.disabled=!1,h.remove(),a&&!i&&setTimeout(c,Dt)},m=i?[b(this.#i("preview.again"),c)]:a?[l,h]:[this.#W()],f=this.#v(""),[g,y]=[this.#r,this.#e];this.#p("thanks",...it({client:g,receipt:e,texts:y,before:n,heading:f,actions:m,isShown:u,onSettled:d}))}#W(){return b(this.#i("button.remove"),()=>this.#G(),{class:"quiet"})}#G(){let e=this.#u,n=e.status==="waiting",s=b(this.#i("button.removeNow"),()=>this.#Q(n)),i=b(this.#i("button.keep"),()=>this.#x(e,{before:!0}),{class:"quiet"}),r=[n?"remove.unsent":"remove.sent","remove.again"].map(a=>this.#i(a));this.#U("remove.title",r,[s,i])}#U(e,n,s=[]){this.#p("message",this.#v(this.#i(e)),...n.map(i=>o("p",{},i)),o("p",{class:"actions"},...s)),this.#b()}async#Q(e){let n=this.#c;try{if(await this.#r.forget({unsent:e}),n!==this.#c)return;this.#u=null,this.#U("remove.doneTitle",[this.#i("remove.done")]),this.#f("removed",{})}catch(s){n===this.#c&&this.#E(s,"unexpected")}}#E(e,n,s="unexpected"){let{reason:i}=e,r=i===void 0?s:this.#e.has(`failure.${i}.title`)?i:n;this.#f("failed",{reason:i??"unexpected"}),this.#O(r)}#O(e,n){let s=["closed","refused","expired","already_answered","unsure"].includes(e),i=[];this.#s&&!s?i.push(b(this.#i("button.answers"),()=>{this.#q(),this.#b()})):["unreachable","storage","unexpected","unsure","not_open"].includes(e)&&i.push(b(this.#i("button.again"),()=>this.load())),this.#u&&i.push(this.#W());let r=!!this.#s,a=document.activeElement===document.body;s&&this.#$(),this.#p("message",o("div",{role:"alert"},this.#v(this.#i(`failure.${e}.title`,n)),o("p",{},this.#i(`failure.${e}.text`))),i.length?o("p",{class:"actions"},...i):null),r?this.#b():a&&this.#h.querySelector("h2").focus({preventScroll:!0})}};export{Pn as connect,Hn as disconnect};

// Deniable 0.1.0, deniable/survey-element.js: built from client/web/src, where it is readable.
function r(t,e={},...n){let s=document.createElement(t);for(let[o,i]of Object.entries(e))i==null||i===!1||s.setAttribute(o,i===!0?"":String(i));return s.append(...n.filter(o=>o!=null)),s}var w=(t,e,n={})=>r(t,{dir:"auto",...n},e);function g(t,e,n={}){let s=r("button",{type:"button",part:"button",...n},t);return e&&s.addEventListener("click",e),s}var ot="http://www.w3.org/2000/svg";function _(t,e,n,s={}){let o=(a,d)=>{let l=document.createElementNS(ot,a);for(let[c,h]of Object.entries(d))l.setAttribute(c,String(h));return l},i=o("svg",{viewBox:t,class:n,"aria-hidden":"true",...s});return i.append(...e.map(([a,d])=>o(a,d))),i}var de=t=>_("0 0 100 6",[["rect",{class:"bar-rest",width:100,height:6}],["rect",{class:"bar-share",width:100*t,height:6}]],"bar",{preserveAspectRatio:"none"});var ue=()=>crypto.getRandomValues(new Uint8Array(1))[0]%2===1,pe=t=>[r("p",{},t.say("how.coin")),r("p",{},t.say("how.cover")),it(t),rt(t),r("p",{class:"hint"},t.say("how.here"))];function it(t){let e=["yes","no"].map(c=>r("input",{type:"radio",name:"secret",value:c,autocomplete:"off"})),[n,s,o]=["face","face idle","face sent"].map(c=>r("span",{class:c},"?")),i=r("p",{role:"status",class:"result"},t.say("how.unflipped")),a=(c,h,u=!1)=>{c.textContent=h,c.classList.toggle("idle",u),c.classList.remove("thrown"),c.getBoundingClientRect(),u||c.classList.add("thrown")},d=c=>t.say(c?"how.heads":"how.tails"),l=()=>{let c=e.find(f=>f.checked)?.value;if(!c)return void(i.textContent=t.say("how.choose"));let h=ue(),u=ue(),p=t.say(h?c:u?"yes":"no");a(n,d(h)),a(s,h?"–":d(u),h),a(o,p),i.textContent=t.say(h?"how.truth":"how.chance",{sent:p})};return r("div",{class:"try"},r("fieldset",{},r("legend",{},t.say("how.tryCoin")),r("div",{class:"options short"},...e.map(c=>r("label",{class:"option"},c,r("span",{},t.say(c.value)))))),r("p",{},g(t.say("how.flip"),l)),r("div",{class:"faces","aria-hidden":"true"},n,he(),s,he(),o),i)}var he=()=>_("0 0 24 24",[["path",{d:"M4 12h14m-5-5 5 5-5 5"}]],"arrow");function rt(t){let[e,n]=[0,0],s=r("input",{type:"range",min:0,max:100,step:5,value:30,autocomplete:"off",id:"share"}),o=r("label",{for:"share"}),i=_("0 0 400 105",Array.from({length:100},(p,f)=>["path",{d:at(f)}]),"people"),a=_("0 0 400 40",[["path",{class:"line",d:"M10 20h380"}],["path",{class:"truth",d:"M0 6v28"}],["circle",{class:"said",cy:20,r:7}],["circle",{class:"estimate",cy:20,r:7}]],"scale"),d=r("p",{role:"status",class:"result"}),l=()=>Number(s.value)/100,c=()=>{o.textContent=t.say("how.share",{count:t.number(Number(s.value))}),[...i.children].forEach((m,b)=>m.classList.toggle("yes",b<Number(s.value)));let p=e?n/e:null,f=e?2*(p-.25):null;[l(),p,f].forEach((m,b)=>ct(a.children[b+1],m)),d.textContent=e?t.say("how.result",{people:t.number(e),said:t.percent(p),estimate:t.percent(f),truth:t.percent(l())}):t.say("how.nobody")},h=()=>{[e,n]=[0,0],c()},u=()=>{for(let p of crypto.getRandomValues(new Uint32Array(1e3))){let f=(p>>>2)/1073741824<l();n+=p&1?Number(f):p>>1&1,e++}c()};return s.addEventListener("input",h),c(),r("div",{class:"try"},r("h3",{},t.say("how.crowd")),o,s,i,r("p",{class:"actions"},g(t.say("how.ask"),u)," ",g(t.say("how.again"),h,{class:"quiet"})),a,d,r("p",{class:"hint"},t.say("how.correction")))}function at(t){let[e,n]=[t%25*16+8,Math.floor(t/25)*26+4];return`M${e} ${n}a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7zM${e-5} ${n+20}v-5a5 5 0 0 1 10 0v5z`}function ct(t,e){t.classList.toggle("gone",e===null),e!==null&&t.setAttribute("transform",`translate(${10+380*Math.min(Math.max(e,0),1)} 0)`)}var Bt=10n**12n,z=t=>{let[e,n=""]=t.split(".");return BigInt(e+n.padEnd(12,"0"))},lt=t=>`${t}`.padStart(13,"0").replace(/(.{12})$/,".$1").replace(/\.?0+$/,""),dt=t=>t.reduce((e,n)=>e+z(n),0n),R=t=>lt(dt(t));var O=class t{constructor(e="0",n="0"){Object.freeze(Object.assign(this,{epsilon:e,delta:n}))}plus({epsilon:e,delta:n}){return new t(R([this.epsilon,e]),R([this.delta,n]))}within({epsilon:e,delta:n}){return z(this.epsilon)<=z(e)&&z(this.delta)<=z(n)}power(e=.05){let n=Math.exp(this.epsilon),s=Number(this.delta);return Math.min(1,Math.min(e*n+s,1-(1-e-s)/n)*(1+1e-10))}},Pt=new O("10","0.000001");var fe=(t,e)=>{let n=1;for(let s=1;s<=e;s++)n=n*(t-e+s)/s;return n},ut=(t,e)=>Math.floor(t/2**e)%2===1;function D(t,e,n){if(t.kind==="drawn"){let a=Math.floor(n/2);return D(t.parts[a],e[a],n%2)/t.parts.length}if(t.kind==="table")return t.weights[e][n]/9007199254740992;let s=t.favour/9007199254740992;if(t.kind==="subset"){let{options:a,size:d}=t;return ut(n,e)?s/fe(a-1,d-1):(1-s)/fe(a-1,d)}let{levels:o,width:i}=t;return e<=n&&n<e+i?s/i:(1-s)/(o-1)}var me=t=>t.options??t.levels??t.weights.length;function B({items:t,channel:e}){return t.length>1?e.size===1?"combination":"combinations":e.kind==="band"&&e.width===1?t[0].question.type==="number"?"point":e.levels===2?"bit":"single":e.kind==="subset"?e.size===1?"single":"set":{band:"range",drawn:"drawn",table:"table"}[e.kind]}var N=({items:t})=>t.length>1?null:t[0].question.delta??null,F=t=>t.items[0].question.type==="number"&&["point","range","table"].includes(B(t)),be=["opposite","other","outside","elsewhere","far"];function V(t){let{channel:e}=t,n=B(t),s=(e.kind==="drawn"?e.parts[0].favour:e.favour)/9007199254740992,o={form:n,odds:ge(e),excess:ht(t)};if(n==="bit")return{...o,chances:[["same",s],["opposite",1-s]]};if(["single","set","combination","combinations"].includes(n)){let[c,h]=e.kind==="band"?[e.levels,1]:[e.options,e.size],u=(s*(h-1)+(1-s)*h)/(c-1);return{...o,count:c,size:h,others:c-1,miss:1-s,chances:[["yours",s],["other",u]]}}if(n==="range"||n==="point"){let{levels:c,width:h}=e;return{...o,levels:c,width:h,miss:1-s,chances:[[n==="range"?"inside":"rounded",s],[n==="range"?"outside":"elsewhere",1-s]]}}if(n==="drawn"){let c=Math.max(...e.parts.map(u=>u.favour))/9007199254740992,h=e.parts.length;return{...o,count:h,chances:[["drawn",1/h],["same",c],["opposite",1-c]]}}let{weights:i}=e,a=i[0].map((c,h)=>ye(e,h)),d=(c,h)=>c.reduce((u,p,f)=>h.some(m=>a[f].includes(m))?u+p:u,0)/9007199254740992,l=Math.max(...i.flatMap((c,h)=>(F(t)?[[h-1,h],[h,h+1]]:[[h]]).map(u=>d(c,u))));return{...o,levels:i.length,reports:i[0].length,chances:[["near",l],["far",1-l]]}}function ge(t){if(t.kind==="drawn")return Math.max(...t.parts.map(ge));if(t.kind==="table")return Math.max(...t.weights[0].map((s,o)=>{let i=t.weights.map(a=>a[o]);return Math.max(...i)/Math.min(...i)}));let[e,n]=t.kind==="subset"?[t.options-t.size,t.size]:[t.levels-1,t.width];return t.favour*e/((9007199254740992-t.favour)*n)}var we=({epsilon:t},e)=>e>Math.exp(Number(t))*(1+1e-9);function ht(t){let{channel:e}=t;if(!N(t))return 0;let n=e.weights[0].map((s,o)=>{let i=e.weights.map(a=>a[o]);return we(t,Math.max(...i)/Math.min(...i))});return Math.max(...e.weights.map(s=>s.reduce((o,i,a)=>n[a]?o+i:o,0)))/9007199254740992}function ye(t,e){let n=Array.from({length:me(t)},(o,i)=>D(t,i,e)),s=Math.max(...n);return n.flatMap((o,i)=>o===s?[i]:[])}function j(t,e){let{channel:n}=t,s=B(t);if(s==="drawn"){let d=Math.floor(e/2),l=n.parts[d].favour/9007199254740992;return{form:s,option:d,bit:e%2,count:n.parts.length,high:l,low:1-l,odds:l/(1-l),rare:!1}}let o=Array.from({length:me(n)},(d,l)=>D(n,l,e)),[i,a]=[Math.max(...o),Math.min(...o)];return{form:s,points:ye(n,e),reports:n.weights?.[0].length,high:i,low:a,odds:i/a,rare:!!N(t)&&we(t,i/a)}}function P({min:t,max:e},n){let s=Math.min(12,Math.max(0,3-Math.floor(Math.log10(e-t)))),o=a=>Number(a.toFixed(s)),i=a=>o(t+(e-t)*a/(n-1));return Array.from({length:n},(a,d)=>d===n-1?e:d?i(d):t)}function ve({min:t,max:e,bins:n}){return[t,...n.filter(s=>t<s&&s<e),e]}var $=t=>Math.ceil(t*(1-1e-12)*100)/100;function A(t){if(t===0)return 0;let e=Math.min(12,1-Math.floor(Math.log10(t)));return Math.ceil(t*10**e*(1-1e-12))/10**e}function H({most:t=[],least:e=[]}){let n=Math.min(...[...t,...e].flatMap(o=>[o,1-o]).filter(o=>o>1e-15)),s=[100,1e3,1e4,1e5,1e6].find(o=>n*o>=5);return s===void 0?null:{total:s,most:t.map(o=>Math.ceil(o*s*(1-1e-12))),least:e.map(o=>Math.floor(o*s*(1+1e-12)))}}var xe={en:()=>import("./texts/en.js"),es:()=>import("./texts/es.js"),fr:()=>import("./texts/fr.js"),de:()=>import("./texts/de.js"),ar:()=>import("./texts/ar.js")},pt=Object.keys(xe),ft=["ar","dv","fa","he","ks","ku","ps","sd","ug","ur","yi"],ze=t=>t.toLowerCase().split("-")[0],M=t=>ft.includes(ze(t))?"rtl":"ltr";async function Q(t,e){let n=pt.find(o=>o===ze(t))??"en",{default:s}=await xe[n]();return new G(s,e,t,n)}var ke=t=>typeof t=="object"&&t!==null;function Se(t,e){return Object.fromEntries(Object.entries(t).map(([n,s])=>{let o=ke(e)&&Object.hasOwn(e,n)?e[n]:void 0;return ke(s)?[n,Se(s,o)]:[n,typeof o=="string"||typeof o=="function"?o:s]}))}var mt=/[\u202a-\u202e\u2066-\u2069]/g,v=t=>`⁨${t.replace(mt,"")}⁩`;function _e(t,e){if(typeof t=="string")return t.replace(/\{(\w+)\}/g,(n,s)=>Object.hasOwn(e,s)?e[s]:n);try{let n=t(e);return typeof n=="string"?n:void 0}catch{return}}var G=class{#e;#l;#s;#t;constructor(e,n,s,o=s){this.#e=e,this.#l=Se(e,n),this.#s=bt(s),this.#t=this.#i({maximumFractionDigits:12}),this.language=o}#i(e){return new Intl.NumberFormat(this.#s,e)}say(e,n={}){let s=o=>e.split(".").reduce((i,a)=>i?.[a],o);return _e(s(this.#l),n)??_e(s(this.#e),n)}has(e){return this.say(e)!==void 0}number(e){return this.#t.format(e)}percent(e){return this.#i({style:"percent",minimumFractionDigits:1,maximumFractionDigits:1}).format(e)}minutes(e){return this.#i({style:"unit",unit:"minute",unitDisplay:"long"}).format(e)}either(e){return new Intl.ListFormat(this.#s,{type:"disjunction"}).format(e)}all(e){return new Intl.ListFormat(this.#s,{type:"conjunction"}).format(e)}};function bt(t){try{return t?Intl.getCanonicalLocales(t)[0]:void 0}catch{return}}var Ie="declined";function Y(t,e,n){let s=t.number(n);return e.unit?t.say("amount",{number:s,unit:v(e.unit)}):s}var X=(t,e)=>t.say("quote",{text:v(e)});function Oe({question:t,option:e,codes:n},s,o){if(e){let{text:a}=t.options.find(({code:d})=>d===e);return n.map(d=>o(s.say(d==="yes"?"optionYes":"optionNo",{option:a})))}let i;if(t.type==="yes_no")i=n.filter(a=>a!==Ie).map(a=>o(s.say(a)));else if(t.type==="scale")i=t.labels.map(a=>o(a));else if(t.type==="number"){let a=ve(t);i=a.slice(1).map((d,l)=>{let c=l===a.length-2;return s.say(c?"range":"bin",{low:s.number(a[l]),high:Y(s,t,d)})})}else i=t.options.map(({text:a})=>o(a));return t.decline?[...i,o(s.say("declined"))]:i}function I({items:t,paths:e,channel:n},s,o=i=>X(s,i)){let[{question:i}]=t;if(t.length>1){let a=t.map(l=>Oe(l,s,v)),d=l=>l.flatMap((c,h)=>c===null?[]:[a[h][c]]);return e.map(l=>d(l).join(" · "))}return i.type==="number"&&!i.bins?P(i,n.levels??n.weights.length).map(d=>Y(s,i,d)):Oe(t[0],s,o)}function Ee(t,e,n,s){let[o,i]=[n[0],n.at(-1)];return{low:t.type==="number"?s.number(P(t,e.length)[o]):e[o],high:e[i]}}function J(t,e,n,s){return n[0]===n.at(-1)?e[n[0]]:s.say("range",Ee(t,e,n,s))}var K=({labels:t})=>t.some(e=>/^\p{Nd}/u.test(e));function Ne(t,e,n){if(e===Ie&&t.decline)return n.say("declined");let s=o=>t.options.find(({code:i})=>i===o).text;switch(t.type){case"yes_no":return n.say(e?"yes":"no");case"choice":return s(e);case"multi_choice":return e.length?e.map(o=>v(s(o))).join(", "):n.say("none");case"scale":return K(t)?t.labels[e-1]:n.say("point",{point:n.number(e),label:v(t.labels[e-1])});default:return Y(n,t,e)}}function je(t,e,n){let s=H(n?{least:[e]}:{most:[e]});if(!s)return null;let[o]=n?s.least:s.most;return{count:t.number(o),total:t.number(s.total)}}var gt={set:"InSet",combination:"Combination",combinations:"CombinationInSet"},wt={bit:"opposite",drawn:"opposite",range:"outside",table:"far"};function Ae(t,e){let[{question:n}]=t.items,{form:s,chances:o,odds:i,excess:a,miss:d,count:l,...c}=V(t),h=Ce(t),u=Object.fromEntries(Object.entries(c).map(([b,y])=>[b,e.number(y)]));l&&(u.options=e.number(l));let p=je(e,Object.fromEntries(o)[wt[s]]??d,!0),f=o.map(([b,y])=>({name:e.say(`chance.${b}${gt[s]??""}`),chance:y,cases:yt(b,y,u,e)})),m=[e.say(`protection.${s}`,u)];if(F(t)){let b=I(t,e),y=J(n,b,[0,b.length-1],e);m.push(e.say("protection.rounding",{levels:u.levels,points:y}))}return{line:p?e.say(`line.${s}`,{...u,...p}):e.say("line.seldom"),warning:Te(t,e),details:m,chances:f,bounds:[vt(i,a,h,e),e.say("protection.experts",{symbols:S(h)})]}}function yt(t,e,{options:n},s){if(t==="drawn")return s.say("chance.exactly",{count:s.number(1),total:n});let o=be.includes(t),i=je(s,e,o);return i?s.say(o?"chance.atLeast":"chance.atMost",i):s.say(o?"chance.atLeast":"chance.rare",{chance:s.number(A(e)),count:s.number(Math.floor(e*1e12)),total:s.number(1e12)})}function vt(t,e,{epsilon:n,delta:s},o){if(!Number(s))return o.say("protection.odds",{odds:o.number($(t))});let i=o.number(A(e));return o.say("protection.oddsDelta",{odds:o.number($(Math.exp(n))),chance:i})}var Ce=t=>new O(t.epsilon,N(t)??"0"),S=({epsilon:t,delta:e})=>`ε = ${Number(t)}${Number(e)?`, δ = ${e}`:""}`,kt=50,Le=t=>Math.ceil(t.power()*1e3)/10;function k(t){let e=Le(t);return e>=100?"hardly":e>kt?"weak":"fair"}function Te(t,e){return k(Ce(t))==="fair"?null:e.say(t.items.length>1?"line.weakTogether":"line.weak")}function E(t,e){let n=k(t),s=[e.say("meaning.suppose")];return n==="hardly"?s.push(e.say("meaning.hardly")):s.push(e.say("meaning.found",{percent:e.number(Le(t))})),n==="weak"&&s.push(e.say("meaning.weak")),Number(t.delta)&&s.push(_t(t,e)),s.join(" ")}function _t({delta:t},e){let s=Math.round(t*1e12),o=10;for(;s*o<1e12;)o*=10;s*o%1e12&&(o*=10);let i=e.number(Math.ceil(s*o/1e12));return e.say("meaning.delta",{delta:t,count:i,total:e.number(o)})}var $e=({items:t})=>new Set(t.map(({question:e})=>e.id));function C(t,e){let[n,s]=$e(t);return s||e.filter(o=>$e(o).has(n)).length>1?null:n}var Me=t=>t.reduce((e,{type:n,options:s})=>e+(n==="multi_choice"?s.length:1),0),xt=20;function We({survey:t,questions:e},n){let[s,o]=[e.length,t.questions.length],i=s+(t.segments?.length??0),a=n.minutes(Math.max(1,Math.ceil(i*xt/60))),d=Z({survey:t,questions:e})?s===o?"options":"picked":"all";return n.say(`start.${d}`,{picked:n.number(s),total:n.number(o),minutes:a})}var Z=({survey:t,questions:e})=>Me(e)!==Me(t.questions),ee=({survey:{segments:t=[]}},e)=>e.all(t.map(({text:n})=>X(e,n)));function Ue({parts:t,account:e},n){let s=[E(e,n),n.say("protection.experts",{symbols:S(e)})];return t.length>1?[...s,n.say("meaning.each")]:s}function te(t,e,n){if(t.items.length===1)return null;let s=I(t,n);return j(t,e).points.map(o=>s[o])}function ne(t,e,n){let[{question:s}]=t.items,o=te(t,e,n);if(o)return o.join("; ");let{form:i,points:a,option:d,bit:l,reports:c}=j(t,e);if(i==="drawn")return n.say(l?"report.drawnYes":"report.drawnNo",{option:X(n,s.options[d].text)});if(i==="bit"||i==="single")return I(t,n,u=>u)[a[0]];let h=I(t,n);if(i==="set")return n.say("report.oneOf",{answers:n.either(a.map(u=>h[u]))});if(i==="table"){let u=J(s,h,a,n);return n.say("report.table",{number:n.number(e+1),reports:n.number(c),answer:u})}return a.length===1?n.say("report.near",{answer:h[a[0]]}):n.say("report.between",Ee(s,h,a,n))}function qe(t,e,n){let{form:s,points:o,bit:i,odds:a,rare:d,...l}=j(t,e),c=H({most:[l.high],least:[l.low]}),h=[];if(c&&l.low>0){let[u,p,f]=[c.most[0],c.least[0],c.total].map(b=>n.number(b)),m={high:u,low:p,total:f};if(s==="drawn")h.push(n.say(i?"why.drawnYes":"why.drawnNo",m));else if(t.items.length>1)h.push(n.say(`why.${s}`,m));else{let b=I(t,n),y=["point","range","table"].includes(s);m.answer=y?J(t.items[0].question,b,o,n):n.either(o.map(x=>b[x])),m.other=b[1-o[0]],h.push(n.say(s==="bit"?"why.bit":"why.others",m))}}if(d){let{excess:u}=V(t),p={odds:n.number($(a)),chance:n.number(A(u))};h.push(n.say(l.low>0?"why.rare":"why.never",p))}else h.push(n.say("why.odds",{odds:n.number($(a))}));return[Te(t,n),...h].filter(Boolean).join(" ")}var Re=12,zt=t=>t.length<=5&&t.every(e=>e.split(/\s/).every(n=>n.length<=12));function De(t,e,n){let s=t.options.map(({code:i,text:a})=>({value:i,label:w("span",a)})),o=r("strong",{},e.say("section.segmentNote"));return Fe(t,s,{texts:e,onChange:n,hint:o,missing:"error.chooseSegment"})}function Be(t,e,n,s){let o=e?ie(e,n):null,i=t.decline?[{value:"declined",label:r("span",{},n.say("declined"))}]:[],a=(l,c)=>Fe(t,[...l,...i],{texts:n,onChange:s,after:o,layout:c,missing:t.decline?"error.chooseOrDecline":"error.choose"}),d=()=>t.options.map(({code:l,text:c})=>({value:l,label:w("span",c)}));switch(t.type){case"yes_no":return a([!0,!1].map(l=>({value:l,label:r("span",{},n.say(l?"yes":"no"))})),"short");case"choice":return a(d());case"scale":return a(t.labels.map((l,c)=>({value:c+1,label:r("span",{},K(t)?null:r("b",{class:"point"},n.number(c+1)," "),w("span",l))})),zt(t.labels)?"scale":void 0);case"multi_choice":return St(t,d(),{texts:n,onChange:s,after:o});default:return Ot(t,{texts:n,onChange:s,after:o})}}function se({id:t,text:e},{role:n,hint:s,controls:o,after:i,parts:a}){let d=[s&&`${t}-hint`,`${t}-error`].filter(Boolean).join(" "),l=r("p",{id:`${t}-error`,class:"error",hidden:!0});return{node:r("fieldset",{id:`${t}-field`,class:"question",part:"question",role:n,"aria-describedby":d,...a},r("legend",{},w("h3",e,{tabindex:"-1"})),s?r("p",{id:`${t}-hint`,class:"hint"},s):null,l,o,i),error:l}}function oe(t,e,n,s){return o=>{e.hidden=!o,e.textContent=o?s.say(...o):"",t.classList.toggle("wrong",!!o);for(let i of n)o?i.setAttribute("aria-invalid","true"):i.removeAttribute("aria-invalid")}}function L(t,e){return r("label",{class:"option",part:"option"},t,e)}function Fe(t,e,{texts:n,onChange:s,hint:o,after:i,layout:a,missing:d}){let l=e.map(()=>r("input",{type:"radio",name:`answer-${t.id}`,autocomplete:"off"})),c=e.length>Re?"many":a,h=r("div",{class:`options ${c??""}`.trim()},...e.map(({label:b},y)=>L(l[y],b))),{node:u,error:p}=se(t,{role:"radiogroup",hint:o,controls:h,after:i,parts:{"aria-required":"true"}}),f=oe(u,p,[u],n),m=()=>l.findIndex(b=>b.checked);return u.addEventListener("change",()=>{f(null),s()}),{id:t.id,node:u,read:()=>m()<0?{problem:[d]}:{value:e[m()].value},answered:()=>m()>=0,clear:()=>l.forEach(b=>b.checked=!1),focus:()=>l[Math.max(m(),0)].focus(),complain:f}}function St(t,e,{texts:n,onChange:s,after:o}){let i=e.map(()=>r("input",{type:"checkbox",autocomplete:"off"})),a=r("input",{type:"checkbox",autocomplete:"off"}),d=r("div",{class:e.length>Re?"options many":"options"},...e.map(({label:p},f)=>L(i[f],p)),L(a,r("span",{},n.say("none")))),{node:l,error:c}=se(t,{hint:n.say("hint.multiChoice"),controls:d,after:o}),h=oe(l,c,[...i,a],n);l.addEventListener("change",p=>{p.target===a?i.forEach(f=>f.checked=!1):a.checked=!1,h(null),s()});let u=()=>a.checked||i.some(p=>p.checked);return{id:t.id,node:l,read:()=>u()?{value:e.filter((p,f)=>i[f].checked).map(({value:p})=>p)}:{problem:["error.chooseSome"]},answered:u,clear:()=>[...i,a].forEach(p=>p.checked=!1),focus:()=>i[0].focus(),complain:h}}function Ot(t,{texts:e,onChange:n,after:s}){let{id:o,min:i,max:a,unit:d,decline:l}=t,c={low:e.number(i),high:e.number(a),unit:d&&v(d)},h=r("input",{id:`${o}-number`,type:"text",inputmode:i<0?"text":"decimal",autocomplete:"off",spellcheck:"false","aria-required":l?null:"true","aria-describedby":`${o}-error`}),u=l?r("input",{type:"checkbox",autocomplete:"off"}):null,p=r("div",{class:"number"},r("label",{for:`${o}-number`},e.say(d?"hint.numberUnit":"hint.number",c)),r("div",{class:"entry"},h,d?w("span",d,{"aria-hidden":"true",class:"unit"}):null),u?r("div",{class:"options"},L(u,r("span",{},e.say("declined")))):null),{node:f,error:m}=se(t,{controls:p,after:s}),b=oe(f,m,[h],e);h.addEventListener("input",()=>{u&&(u.checked=!1),b(null),n()}),u?.addEventListener("change",()=>{h.value="",b(null),n()});let y=()=>{if(u?.checked)return{value:"declined"};if(!h.value.trim())return{problem:[l?"error.numberOrDecline":"error.numberMissing"]};let x=$t(h.value),[ce,st]=x.filter(le=>i<=le&&le<=a);return!x.length||st!==void 0?{problem:["error.notNumber"]}:ce===void 0?{problem:["error.outside",c]}:{value:ce}};return{id:o,node:f,read:y,answered:()=>"value"in y(),clear:()=>{h.value="",u&&(u.checked=!1)},focus:()=>h.focus(),complain:b}}function $t(t){let e=t.trim().replace(/[\u0660-\u0669\u06f0-\u06f9]/g,s=>String(s.charCodeAt(0)&15)).replace(/\u2212/g,"-").replace(/\u066b/g,",").replace(/(?<=\d)[\s'\u2019](?=\d{3}(?!\d))/g,""),n=[];return/^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(e)&&n.push(Number(e.replace(",","."))),/^[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*$/.test(e)&&n.push(Number(e.replace(/[.,]/g,""))),n}function ie(t,e,n=null){let{line:s,warning:o,details:i,chances:a,bounds:d}=Ae(t,e),l=a.map(({name:c,chance:h,cases:u})=>r("tr",{},r("th",{scope:"row"},c),r("td",{class:"picture"},de(h)),r("td",{class:"figure"},u)));return r("div",{class:"protection",part:"protection"},n,o?r("p",{class:"weak"},o):null,r("p",{},s),r("details",{},r("summary",{},e.say("protection.title")),...i.map(c=>r("p",{},c)),r("p",{},e.say("protection.always")),r("table",{class:"chances"},r("tbody",{},...l)),...d.map(c=>r("p",{},c))))}function Ve({client:t,questions:e,values:n,texts:s,onChange:o}){let{survey:i,account:a}=t,d=({id:u,text:p},f,m)=>{let b=s.say("button.changeWhat",{question:p}),y=g(s.say("button.change"),()=>o(u),{class:"link","aria-label":b}),x=[w("h3",p),w("p",f,{class:"answer"}),m];return r("li",{},r("div",{},...x.filter(Boolean)),y)},l=u=>d(u,u.options.find(({code:p})=>p===n[u.id]).text,r("p",{class:"hint weak"},s.say("section.segmentNote"))),c=k(a),h=["id",Z(t)&&"booklet"].filter(Boolean);return[r("p",{class:"hint"},s.say("section.reviewHint")),c==="fair"?null:r("p",{class:"weak"},s.say(`start.${c}`)),r("ul",{class:"answers"},...e.map(u=>d(u,Ne(u,n[u.id],s))),...(i.segments??[]).map(l)),r("details",{},r("summary",{},s.say("section.openly")),r("ul",{},...h.map(u=>r("li",{},s.say(`openly.${u}`)))),re(t,s)),t.persistent?null:r("p",{class:"note"},s.say("status.forgetful"))]}function Pe({parts:t},e){let n=t.filter(s=>C(s,t)===null);return n.map(s=>{let o=new Map(s.items.map(({question:a})=>[a.id,a.text])),i=n.length>1?r("ul",{},...[...o.values()].map(a=>w("li",a))):null;return{ids:new Set(o.keys()),node:ie(s,e,i)}})}function re(t,e){let n=Ue(t,e).map(s=>r("p",{},s));return r("section",{class:"total"},r("h3",{},e.say("section.total")),...n)}var T=class{#e;#l;#s;#t;#i;#f=null;#r=[];#n=r("progress",{max:1,value:0,"aria-labelledby":"progress-text"});#a=r("span",{id:"progress-text"});#m=r("p",{class:"unseen",role:"status"});#u=r("div",{class:"summary",part:"summary",role:"alert"});#d;#h;#c;constructor({client:e,shownQuestions:n,texts:s,onePage:o,onNext:i,onBack:a}){this.#e=e,this.#l=n,this.#s=s;let{survey:d,questions:l,parts:c}=e,h=()=>this.#_(),u=l.map(m=>{let b=c.find(y=>C(y,c)===m.id);return Be(m,b,s,h)}),p=(d.segments??[]).map(m=>De(m,s,h));this.#t=[...u,...p],this.#i=o?[this.#t]:[...this.#z(u),...p.length?[p]:[]],this.#d=p.length?r("h2",{class:"openly"},s.say("section.segments")):null,this.#h=Pe(e,s),this.#c=r("button",{type:"submit",part:"button"}),this.progress=r("div",{class:"progress",part:"progress"},this.#n,this.#a);let f=g(s.say("button.back"),a,{class:"quiet"});this.node=r("form",{method:"dialog",autocomplete:"off",novalidate:!0},this.#u,...u.map(({node:m})=>m),...this.#h.map(({node:m})=>m),o?re(e,s):null,this.#d,...p.map(({node:m})=>m),this.#m,r("p",{class:"actions"},this.#c," ",f)),this.node.addEventListener("submit",m=>{m.preventDefault(),this.#p(this.#g())&&i()}),this.show(0)}#z(e){let n=[],s={};return this.#e.questions.forEach(({id:o,show_if:i},a)=>{let d=i&&Object.keys(i)[0],l=s[d]??n.push([])-1;s[o]=l,n[l].push(e[a])}),n}get length(){return this.#i.length}clear(){for(let e of this.#t)e.clear()}get begun(){return this.#t.some(e=>e.answered())}show(e,n=!1){this.#f=e,this.#u.replaceChildren(),this.#_(),this.#m.textContent="";let s=n||e===this.#i.length-1;this.#c.textContent=this.#s.say(s?"button.review":"button.next")}stepOf(e){return this.#i.findIndex(n=>n.some(s=>s.id===e))}firstMissing(){return this.#i.findIndex(e=>e.some(n=>this.#k(n)&&!n.answered()))}focus(e=this.#g()[0].id){this.#t.find(n=>n.id===e).focus()}focusQuestion(){this.#g()[0].node.querySelector("h3").focus()}values(){return Object.fromEntries(this.#t.filter(this.#k,this).map(e=>[e.id,e.read().value]))}#v=new Set;#k({id:e}){return this.#v.has(e)}#g(){return this.#i[this.#f].filter(this.#k,this)}#_(){this.#b();let e=this.#g();for(let s of this.#t)s.node.hidden=!e.includes(s);if(this.#d){let s=(this.#e.survey.segments??[]).map(({id:o})=>o);this.#d.hidden=!e.some(({id:o})=>s.includes(o))}for(let{ids:s,node:o}of this.#h)o.hidden=!e.some(({id:i})=>s.has(i));this.#o(e);let n=([s])=>s.answered()||s.node.hidden;for(let s of this.#r)n(s)&&s[1].remove();this.#r.every(n)&&this.#u.replaceChildren()}#o(e){let n=this.#i.length===1,[s,o]=n?[e.filter(a=>a.answered()).length,e.length]:[this.#f+1,this.#i.length];this.#n.value=s/o;let i={done:this.#s.number(s),total:this.#s.number(o)};this.#a.textContent=this.#s.say(n?"answered":"progress",i)}#b(){let{questions:e,survey:n}=this.#e,s=this.#t.map(d=>[d.id,d.read()]).filter(([,d])=>"value"in d),o=Object.fromEntries(s.map(([d,{value:l}])=>[d,l])),i=new Set(this.#l(e,o)),a=e.flatMap(d=>{let l=!i.has(d);if(this.#v.has(d.id)!==l)return[];if(l){let h=this.#t.find(({id:u})=>u===d.id);h.clear(),h.complain(null)}let c=l?"followUp.hidden":"followUp.shown";return[this.#s.say(c,{question:v(d.text)})]});this.#v=new Set([...i,...n.segments??[]].map(({id:d})=>d)),a.length&&(this.#m.textContent=a.join(" "))}#p(e){let n=e.map(o=>[o,o.read()]),s=n.filter(([,{problem:o}])=>o);for(let[o,{problem:i}]of n)o.complain(i??null);return this.#u.replaceChildren(),s.length?(this.#i.length===1&&this.#w(s),s[0][0].focus(),!1):!0}#w(e){let{survey:n}=this.#e,s=Object.fromEntries([...n.segments??[],...n.questions].map(({id:o,text:i})=>[o,i]));this.#r=e.map(([o])=>{let i=g(s[o.id],()=>o.focus(),{class:"link",dir:"auto"});return[o,r("li",{},i)]}),this.#u.append(r("h2",{},this.#s.say("error.summary")),r("p",{},this.#s.say("error.why")),r("ul",{},...this.#r.map(([,o])=>o)))}};function He({client:t,texts:e,host:n,language:s,heading:o,actions:i}){let{survey:a,account:d,offline:l}=t,c=k(d);return[Mt(a,n.getAttribute("logo")),o,r("p",{class:"hint"},We(t,e)),a.notice?w("p",a.notice,{class:"notice"}):null,r("div",{class:c==="fair"?"promise":"promise weak-promise"},c==="fair"?Nt(e):null,r("p",{},e.say(`start.${c}`)),a.segments?.length?r("p",{class:"hint"},e.say("start.openly",{questions:ee(t,e)})):null),l?r("p",{class:"note"},e.say("offline")):null,n.hasAttribute("kiosk")?r("p",{class:"note"},e.say("kiosk.note")):null,r("p",{class:"actions wide"},g(e.say("start.go"),i.start)),r("p",{class:"more"},g(e.say("start.how"),i.how,{class:"link"})," ",g(e.say("start.who"),i.who,{class:"link"})),It(t.languages,s,e,i.speak)]}function Mt({asked_by:t,contact:e},n){if(!t&&!e&&!n)return null;let s=r("span",{},t?w("b",t):null,t&&e?" · ":null);return e&&s.append(w("span",e)),r("p",{class:"who-asks"},n?r("img",{src:n,alt:""}):null,s)}function It(t,e,n,s){if(t.length<2)return null;let o=r("select",{"aria-label":n.say("start.language"),autocomplete:"off"},...t.map(i=>r("option",{value:i,lang:i,dir:M(i),selected:i===e},Et(i))));return o.addEventListener("change",()=>s(o.value)),r("p",{class:"languages"},o)}function Et(t){try{let e=new Intl.DisplayNames([t],{type:"language"}).of(t);return e.charAt(0).toLocaleUpperCase(t)+e.slice(1)}catch{return t}}var Nt=t=>r("div",{class:"coin-picture","aria-hidden":"true"},...["answer","coin","sent"].flatMap((e,n)=>[n?_("0 0 24 24",[["path",{d:"M4 12h14m-5-5 5 5-5 5"}]],"arrow"):null,r("span",{class:e},t.say(`start.${e}`))]));function Ge({client:t,texts:e,pinned:n}){let{survey:s,account:o,digest:i}=t,a=k(o);return[r("table",{class:"who",role:"table"},r("tbody",{role:"rowgroup"},...[["team",a],["thief",a],["network","networkSees"],["device","deviceSees"],["website","websiteSees"]].map(([l,c])=>r("tr",{role:"row"},r("th",{role:"rowheader",scope:"row"},e.say(`who.${l}`)),r("td",{role:"cell"},e.say(`who.${c}`)))))),s.segments?.length?r("p",{class:"weak"},e.say("who.openly",{questions:ee(t,e)})):null,r("p",{},E(o,e)),r("p",{class:"hint"},e.say("who.checked",{symbols:S(o)})),r("p",{class:"hint"},e.say("who.kept")),r("details",{},r("summary",{},e.say("who.cheat")),r("p",{},e.say("who.cheatText")),r("p",{},e.say("who.digest")),r("p",{},r("code",{class:"digest",dir:"ltr"},i)),r("p",{},e.say(n?"who.pinned":"who.unpinned")))]}var W=class{#e=`${crypto.getRandomValues(new Uint32Array(1))[0]}`;#l;#s=new AbortController;constructor(e){this.#l=e,addEventListener("popstate",()=>e(this.current),{signal:this.#s.signal})}stop(){this.#s.abort()}get current(){return history.state?.deniable?.[this.#e]??{screen:"start",depth:0}}open(e,n=!1){let s={screen:e,change:n,depth:this.current.depth+1},o={...history.state?.deniable,[this.#e]:s};history.pushState({...history.state,deniable:o},""),this.#l(s)}back(){history.back()}end(){this.stop();let{depth:e}=this.current;e&&history.go(-e)}};var jt=`
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
`,U;function Qe(){return U||(U=new CSSStyleSheet,U.replaceSync(jt)),U}function Ye(t,e){let n=s=>s.toLowerCase().split("-")[0];for(let s of t){let o=e.filter(i=>n(i)===n(s));if(o[0])return o.find(i=>i.toLowerCase()===s.toLowerCase())??o[0]}return e[0]}var At=["question","left","why"];function Ze({client:t,receipt:e,texts:n}){let{survey:s,parts:o,account:i}=t,a=g(n.say("button.save"),()=>Ct(t,e,n),{class:"quiet"}),d=g(n.say("button.print"),()=>window.print(),{class:"quiet"}),l=[...o.map((u,p)=>{let f=e.reports[p],m=t.questions.filter(({id:b})=>u.items.some(({question:y})=>y.id===b));return Je(n,{question:Xe(m.map(({text:b})=>b)),left:Ke(Xe(te(u,f,n)??[ne(u,f,n)],"ul"),n.say("receipt.raw",{report:f})),why:qe(u,f,n)})}),...(s.segments??[]).map(u=>{let p=e.segments[u.id],{text:f}=u.options.find(m=>m.code===p);return Je(n,{question:w("span",u.text),left:Ke(w("span",f),n.say("receipt.code",{code:p})),why:n.say("receipt.openly")})})],c=k(i)==="fair",h={id:e.id,digest:e.digest,spent:S(i)};return[r("p",{class:c?"":"weak"},n.say(c?"receipt.calm":"receipt.weak")),r("table",{class:"receipt",part:"receipt",role:"table"},r("thead",{role:"rowgroup"},r("tr",{role:"row"},...At.map(u=>r("th",{role:"columnheader",scope:"col",class:u},n.say(`receipt.${u}`))))),r("tbody",{role:"rowgroup"},...l)),r("p",{},E(i,n)),r("dl",{class:"facts"},...Object.entries(h).flatMap(([u,p])=>[r("dt",{},n.say(`receipt.${u}`)),r("dd",{},r("code",{dir:"ltr"},p))])),r("p",{class:"hint"},n.say("receipt.keep")),r("p",{class:"actions"},a," ",d)]}var Xe=(t,e="ol")=>t.length>1?r(e,{},...t.map(n=>w("li",n))):w("span",t[0]);function Je(t,e){return r("tr",{role:"row"},...Object.entries(e).map(([n,s])=>{let o=n==="question",i=o?null:r("span",{class:"cell-label","aria-hidden":"true"},t.say(`receipt.${n}`)),a=r("div",{},s);return r(o?"th":"td",{role:o?"rowheader":"cell",scope:o?"row":null,class:n},i,a)}))}var Ke=(t,e)=>r("div",{},t,r("code",{class:"raw"},e));function Ct(t,e,n){let{survey:s,parts:o}=t,i={about:n.say("receipt.file"),survey:s.id,title:s.title,id:e.id,digest:e.digest,epsilon:e.epsilon,delta:e.delta,booklet:e.booklet,reports:e.reports,segments:e.segments,in_words:o.map((l,c)=>({questions:l.questions,sent:ne(l,e.reports[c],n).replace(/[\u2068\u2069]/g,"")}))},a=URL.createObjectURL(new Blob([`${JSON.stringify(i,null,2)}
`],{type:"application/json"}));r("a",{href:a,download:`deniable-receipt-${s.id}.json`}).click(),setTimeout(()=>URL.revokeObjectURL(a),6e4)}function Lt({status:t,refused:e,reached:n},{persistent:s},o){if(e)return["bad",o.say("failure.refused.title"),o.say("status.refused",e)];if(t==="expired")return["bad",o.say("failure.expired.title"),o.say("failure.expired.text")];if(t==="delivered")return["good",o.say("status.thanks"),o.say("status.thanksText")];let i=o.say(n?"status.waitingServer":"status.waiting"),a=o.say(s?"status.comeBack":"status.stay");return["waiting",o.say("status.waitingTitle"),`${i} ${a}`]}function et({client:t,receipt:e,texts:n,before:s,heading:o,actions:i,isShown:a,onSettled:d}){let l=r("p",{role:"status"}),c=r("div",{class:"mark","aria-hidden":"true"}),h=()=>{if(!a())return clearInterval(u);let[f,m,b]=Lt(e,t,n);o.textContent!==m&&(o.textContent=m),l.textContent!==b&&(l.textContent=b),l.className=`status ${f}`,c.textContent=f==="good"?"✓":"",f!=="waiting"&&(clearInterval(u),d())},u=setInterval(h,1e3);h(),e.settled?.then(h);let{closing:p}=t.survey;return[c,o,s?r("p",{},n.say("status.before")):null,l,p?w("p",p,{class:"closing"}):null,s?null:Tt(t,e,n),r("p",{class:"actions"},...i)]}function Tt(t,e,n){try{let s=r("summary",{},n.say("button.see"));return r("details",{class:"what-was-sent"},s,...Ze({client:t,receipt:e,texts:n}))}catch(s){return console.error(s),null}}var q=new WeakMap,Wt=6e4;function Wn(t,e){q.get(t)?.stop();let n=new ae(t,e);q.set(t,n),n.load()}function Un(t){q.get(t)?.stop(),q.delete(t)}function tt(t){let e=t.getAttribute("src")??"";if(e.includes("#")||!URL.canParse(e,document.baseURI))return e;let{origin:n,pathname:s}=new URL(e,document.baseURI);return n!==location.origin||s!==location.pathname?e:e+/#.*|$/s.exec(location.href)[0]}function Ut(t,e){if(e.reason===void 0)return void console.error(e);if(!["address","unreachable"].includes(e.reason))return;let n=t.hasAttribute("src")?e.message:"the attribute src is missing";console.error(`<deniable-survey>: ${n}. What it should look like: <deniable-survey src="https://survey.example.org/s/campus-health">, with your server and your survey.`,t)}var nt=t=>t.preventDefault(),ae=class{#e;#l;#s;#t;#i="en";#f;#r=null;#n=null;#a=null;#m=null;#u=!1;#d=null;#h=null;#c=0;#z=!1;#v=new AbortController;constructor(e,n){this.#e=e,this.#l=n,this.#s=e.shadowRoot,this.#s.adoptedStyleSheets=[Qe()];let{signal:s}=this.#v;window.addEventListener("pagehide",()=>this.#j(),{signal:s}),window.addEventListener("pageshow",o=>o.persisted&&this.#j(),{signal:s}),window.addEventListener("hashchange",()=>this.#k(),{signal:s});for(let o of["input","change"])this.#s.addEventListener(o,()=>this.#O(),{signal:s})}stop(){this.#c++,this.#v.abort(),this.#N(),this.#s.replaceChildren()}#k(){let e=tt(this.#e),n=this.#r?.digest,[,s=n]=e.split("#");e!==this.#f&&!(n&&s.toLowerCase()===n)&&this.load()}async load(){let e=++this.#c,n=this.#e,s=this.#s.activeElement!==null;this.#N();let o=await Q(this.#g([])[0],n.texts).catch(()=>null);if(e===this.#c){if(!o)return void this.#l.fail();[this.#t,this.#i]=[o,o.language],this.#p("message",r("p",{role:"status"},this.#o("loading"))),this.#f=tt(n);try{let i=n.budget??n.getAttribute("budget")?.split(" "),a=await this.#l.Client.load(this.#f,{budget:i}),d=n.hasAttribute("kiosk")&&a.receipt&&a.receipt.status!=="waiting";if(d&&await a.forget(),e!==this.#c)return;if(d)return void this.load();this.#r=a;let{languages:l}=a,c=Ye(this.#g(l),l)??o.language;if(await this.#_(c,n.getAttribute("lang")||c),e!==this.#c)return;let{survey:h,digest:u,closed:p,receipt:f}=a;this.#b("ready",{survey:h,digest:u,closed:p,receipt:f}),f?this.#x(f,{before:!0}):p?this.#I("closed"):this.#A(),s&&!f&&this.#y()}catch(i){if(e!==this.#c)return;Ut(n,i),this.#M(i,"tampered")}}}#g(e){let n=this.#e.getAttribute("lang");return n?[n]:e.length?navigator.languages:[this.#e.closest("[lang]")?.lang||"en"]}async#_(e,n=e){this.#i=this.#r.useLanguage(e)??e,this.#t=await Q(n,this.#e.texts);let{title:s}=this.#r.survey;this.#b("language",{language:this.#i,direction:M(this.#i),title:s})}#o(e,n){return this.#t.say(e,n)}#b(e,n){this.#e.dispatchEvent(new CustomEvent(`deniable-${e}`,{detail:n,bubbles:!0,composed:!0}))}#p(e,...n){let{language:s}=this.#t;this.#h=r("div",{class:`view ${e}`,part:e,lang:s,dir:M(s)},...n);for(let o of this.#h.querySelectorAll("[dir=auto]"))o.lang=this.#i;this.#s.replaceChildren(this.#h)}#w(e){return r("h2",{tabindex:"-1"},e)}#E(e){return w("h2",this.#r.survey.title,{class:e,tabindex:"-1"})}#y(){this.#h.querySelector("h2").focus({preventScroll:!0}),this.#e.scrollIntoView({block:"start"})}#N(){this.#a?.stop(),this.#a=null,this.#S(),this.#d=this.#r=null,this.#u=!1}#S(){this.#n?.clear(),this.#n=null,this.#O()}#O(){let e=this.#n?.begun??!1;e!==this.#z&&(this.#z=e,e?window.addEventListener("beforeunload",nt):window.removeEventListener("beforeunload",nt))}#j(){this.#n?.clear(),this.#d?this.#x(this.#d,{before:!0}):this.#u?this.#p("message",r("p",{role:"status"},this.#o("status.sending"))):this.#n&&this.#A()}#A(){this.#a?.stop(),this.#a=new W(e=>this.#R(e)),this.#C(),this.#$()}#C(){this.#n=new T({client:this.#r,shownQuestions:this.#l.shownQuestions,texts:this.#t,onePage:this.#e.hasAttribute("one-page"),onNext:()=>this.#q(),onBack:()=>this.#a.back()}),this.#O()}#q(){let{screen:e,change:n}=this.#a.current;n?this.#a.back():this.#a.open(e+1<this.#n.length?e+1:"review")}#R({screen:e,change:n}){!this.#n||this.#u||(e==="start"?this.#$():e==="how"?this.#L("how.title",pe(this.#t)):e==="who"?this.#L("who.title",this.#B()):e==="review"?this.#T():this.#F(e,n),typeof e=="number"?this.#D():this.#y())}#D(){this.#e.scrollIntoView({block:"start"}),this.#m?this.#n.focus(this.#m):this.#n.focusQuestion()}#$(){let e=o=>()=>this.#a.open(o),n={start:e(0),how:e("how"),who:e("who"),speak:async o=>{await this.#_(o),this.#n.clear(),this.#C(),this.#$(),this.#h.querySelector("select").focus()}},s=this.#E("survey-title");this.#p("start",...He({client:this.#r,texts:this.#t,host:this.#e,language:this.#i,heading:s,actions:n}))}#B(){let e=this.#f.split("#")[1]?.toLowerCase()===this.#r.digest;return Ge({client:this.#r,texts:this.#t,pinned:e})}#L(e,n){let s=g(this.#o("button.close"),()=>this.#a.back());this.#p("more-view",this.#w(this.#o(e)),...n,r("p",{class:"actions wide"},s))}#F(e,n){this.#n.show(e,n),this.#p("form",this.#E("running-title"),this.#n.progress,this.#n.node)}#T(){let e=this.#n.firstMissing();if(e>=0)return void this.#a.open(e);let{questions:n}=this.#r,s=this.#n.values(),o=n.filter(({id:c})=>Object.hasOwn(s,c)),i=c=>{this.#m=c,this.#a.open(this.#n.stepOf(c),!0),this.#m=null},a=r("p",{class:"status",role:"status"}),d=g(this.#o("button.send"),()=>this.#V(a)),l=g(this.#o("button.back"),()=>this.#a.back(),{class:"quiet"});this.#p("review",this.#w(this.#o("section.review")),...Ve({client:this.#r,questions:o,values:s,texts:this.#t,onChange:i}),a,r("p",{class:"actions"},d," ",l))}async#V(e){let[n,s]=[this.#r,this.#c];if(this.#u||!this.#n)return;let o=this.#n.values(),i=l=>Object.fromEntries(l.filter(({id:c})=>Object.hasOwn(o,c)).map(({id:c})=>[c,o[c]]));this.#u=!0;for(let l of this.#h.querySelectorAll("button"))l.disabled=!0;e.textContent=this.#o("status.sending");let a,d;try{a=await n.submit(i(n.questions),i(n.survey.segments??[]))}catch(l){d=l}s===this.#c&&(this.#u=!1,a?(this.#b("submitted",{receipt:a}),this.#x(a),this.#y()):d.reason==="already_answered"&&d.receipt?(this.#b("failed",{reason:d.reason}),this.#x(d.receipt,{before:!0}),this.#y()):this.#M(d,"unexpected","unsure"))}#x(e,{before:n=!1}={}){this.#S(),this.#a?.end(),this.#a=null,this.#d=e;let{status:s}=e;if(n&&s!=="waiting")return this.#I(["refused","expired"].includes(s)?s:"already_answered");let o=this.#c,i=this.#e.hasAttribute("kiosk"),a=()=>o===this.#c&&this.#d===e,d=()=>a()&&this.load(),l=g(this.#o("kiosk.next"),d,{disabled:!0}),c=r("span",{class:"hint"},this.#o("kiosk.wait")),h=()=>{l.disabled=!1,c.remove(),i&&setTimeout(d,Wt)},u=i?[l,c]:[this.#W()],p=this.#w(""),[f,m]=[this.#r,this.#t];this.#p("thanks",...et({client:f,receipt:e,texts:m,before:n,heading:p,actions:u,isShown:a,onSettled:h}))}#W(){return g(this.#o("button.remove"),()=>this.#P(),{class:"quiet"})}#P(){let e=this.#d,n=e.status==="waiting",s=g(this.#o("button.removeNow"),()=>this.#H(n)),o=g(this.#o("button.keep"),()=>this.#x(e,{before:!0}),{class:"quiet"}),i=[n?"remove.unsent":"remove.sent","remove.again"].map(a=>this.#o(a));this.#U("remove.title",i,[s,o])}#U(e,n,s=[]){this.#p("message",this.#w(this.#o(e)),...n.map(o=>r("p",{},o)),r("p",{class:"actions"},...s)),this.#y()}async#H(e){let n=this.#c;try{if(await this.#r.forget({unsent:e}),n!==this.#c)return;this.#d=null,this.#U("remove.doneTitle",[this.#o("remove.done")]),this.#b("removed",{})}catch(s){n===this.#c&&this.#M(s,"unexpected")}}#M(e,n,s="unexpected"){let{reason:o}=e,i=o===void 0?s:this.#t.has(`failure.${o}.title`)?o:n;this.#b("failed",{reason:o??"unexpected"}),this.#I(i)}#I(e){let n=["closed","refused","expired","already_answered","unsure"].includes(e),s=[];this.#n&&!n?s.push(g(this.#o("button.answers"),()=>{this.#T(),this.#y()})):["unreachable","storage","unexpected","unsure"].includes(e)&&s.push(g(this.#o("button.again"),()=>this.load())),this.#d&&s.push(this.#W());let o=!!this.#n,i=document.activeElement===document.body;n&&this.#S(),this.#p("message",r("div",{role:"alert"},this.#w(this.#o(`failure.${e}.title`)),r("p",{},this.#o(`failure.${e}.text`))),s.length?r("p",{class:"actions"},...s):null),o?this.#y():i&&this.#h.querySelector("h2").focus({preventScroll:!0})}};export{Wn as connect,Un as disconnect};
